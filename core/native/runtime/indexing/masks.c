/* Boolean masks: count of set elements, compaction, and masked stores.
 *
 * No function here needs the GIL. */
#include "runtime/indexing/masks.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define FEW_GAPS 8   /* runs of a block are copied if at most this number of its elements is unset */
#define FEW_CHOSEN 8 /* elements of a block are copied one by one if at most this number is set */

/* ---- blocks by vector instructions ---- */

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#define WIDE_CODE __attribute__((target("avx512f,popcnt"))) static int64_t

/* True if the processor has instructions that compress and expand vectors by a mask. */
static int
is_wide(void)
{
    static int known = -1;
    if (known < 0) {
        known = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt");
    }
    return known;
}

/* Functions for elements of one size. They compact a block, store to it, or fill it. They return the number of set
 * elements. On the compact side they may access 64 elements. */
#define WIDE_FUNCTIONS(type, bits_type, lanes, suffix) \
    WIDE_CODE \
    pick_##type(type *to, const type *from, uint64_t bits) \
    { \
        int64_t done = 0; \
        for (int k = 0; k < MASK_BLOCK; k += lanes) { \
            bits_type chosen = (bits_type)(bits >> k); \
            _mm512_storeu_si512(to + done, _mm512_maskz_compress_##suffix(chosen, _mm512_loadu_si512(from + k))); \
            done += __builtin_popcount(chosen); \
        } \
        return done; \
    } \
\
    WIDE_CODE \
    put_##type(type *to, const type *value, uint64_t bits) \
    { \
        int64_t done = 0; \
        for (int k = 0; k < MASK_BLOCK; k += lanes) { \
            bits_type chosen = (bits_type)(bits >> k); \
            _mm512_mask_storeu_##suffix(to + k, chosen, \
                                        _mm512_maskz_expand_##suffix(chosen, _mm512_loadu_si512(value + done))); \
            done += __builtin_popcount(chosen); \
        } \
        return done; \
    } \
\
    WIDE_CODE \
    fill_##type(type *to, const type *value, uint64_t bits) \
    { \
        for (int k = 0; k < MASK_BLOCK; k += lanes) { \
            _mm512_mask_storeu_##suffix(to + k, (bits_type)(bits >> k), _mm512_set1_##suffix(*value)); \
        } \
        return __builtin_popcountll(bits); \
    }

WIDE_FUNCTIONS(uint64_t, __mmask8, 8, epi64)
WIDE_FUNCTIONS(uint32_t, __mmask16, 16, epi32)

#define WIDE(name, type, to, from, bits) \
    (sizeof(type) == 8 ? name##_uint64_t((uint64_t *)(to), (const uint64_t *)(from), bits) \
                       : name##_uint32_t((uint32_t *)(to), (const uint32_t *)(from), bits))
#define CAN_BE_WIDE(type) ((sizeof(type) == 8 || sizeof(type) == 4) && is_wide())

#else

#define WIDE(name, type, to, from, bits) 0
#define CAN_BE_WIDE(type) 0

#endif

/* ---- masks ---- */

int64_t
runtime_mask_count(int64_t mask, int64_t size)
{
    const uint8_t *bytes = (const uint8_t *)mask;
    int64_t count = 0, i = 0;
#ifdef __SSE2__
    const __m128i zero = _mm_setzero_si128();
    __m128i unset = zero;
    for (; i + 16 <= size; i += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(bytes + i));
        unset = _mm_add_epi64(unset, _mm_sad_epu8(_mm_sub_epi8(zero, _mm_cmpeq_epi8(part, zero)), zero));
    }
    count = i - _mm_cvtsi128_si64(_mm_add_epi64(unset, _mm_unpackhi_epi64(unset, unset)));
#endif
    for (; i < size; i++) {
        count += bytes[i] != 0;
    }
    return count;
}

/* Bit k is set if element k of a block of a mask is set. */
static inline uint64_t
block_bits(const uint8_t *mask, int64_t count)
{
    uint64_t bits = 0;
    int64_t k = 0;
#ifdef __SSE2__
    for (; k + 16 <= count && k < MASK_BLOCK; k += 16) {
        __m128i part = _mm_loadu_si128((const __m128i *)(mask + k));
        int unset = _mm_movemask_epi8(_mm_cmpeq_epi8(part, _mm_setzero_si128()));
        bits |= (uint64_t)(~unset & 0xffff) << k;
    }
#endif
    for (; k < count && k < MASK_BLOCK; k++) {
        bits |= (uint64_t)(mask[k] != 0) << k;
    }
    return bits;
}

/* True if at most `most` bits are set. */
static inline int
has_few(uint64_t bits, int most)
{
    for (int k = 0; k < most; k++) {
        bits &= bits - 1;
    }
    return bits == 0;
}

/* Visits the set elements of a mask, at most `count`; `done` is their number so far. Calls ONE(i) for one element,
 * RUN(first, end) for a run of them, or BLOCK(start, bits) for a whole block. A block without set elements costs
 * next to nothing, and a full one as much as a copy. */
#define FOR_CHOSEN(ONE, RUN, wide, BLOCK) \
    for (int64_t start = 0; start < size && done < count; start += MASK_BLOCK) { \
        uint64_t bits = block_bits((const uint8_t *)mask + start, size - start); \
        if (bits == 0) { \
            continue; \
        } \
        if (wide && size - start >= MASK_BLOCK && count - done >= MASK_BLOCK && ~bits != 0 && !has_few(bits, FEW_CHOSEN)) { \
            done += BLOCK(start, bits); \
            continue; \
        } \
        if (count - done < MASK_BLOCK || !has_few(~bits, FEW_GAPS)) { \
            for (; bits != 0 && done < count; bits &= bits - 1) { \
                ONE(start + __builtin_ctzll(bits)) \
                done++; \
            } \
            continue; \
        } \
        for (int64_t first = start, end; first < start + MASK_BLOCK; first = end + 1) { \
            uint64_t gaps = ~bits >> (first - start); \
            end = gaps != 0 ? first + __builtin_ctzll(gaps) : start + MASK_BLOCK; \
            RUN(first, end) \
            done += end - first; \
        } \
    }
#define NO_BLOCK(start, bits) 0
#define PICK_ONE(i) to[done] = from[i];
#define PICK_RUN(first, end) memcpy(to + done, from + first, (end - first) * sizeof(*to));
#define PICK_BLOCK(start, bits) WIDE(pick, *to, to + done, from + start, bits)

#define PICK(type) \
    { \
        type *to = (type *)out; \
        const type *from = (const type *)data; \
        int wide = CAN_BE_WIDE(type); \
        FOR_CHOSEN(PICK_ONE, PICK_RUN, wide, PICK_BLOCK) \
    }

/* Compacts the elements that a mask selects into `out`. They are `count`, unless another thread writes to the mask. */
int64_t
runtime_mask_pick(int64_t out, int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count)
{
    int64_t done = 0;
    OF_SIZE(itemsize, PICK)
    return 0;
}

#define PUT_ONE(i) to[i] = value[done];
#define PUT_RUN(first, end) memcpy(to + first, value + done, (end - first) * sizeof(*to));
#define PUT_BLOCK(start, bits) WIDE(put, *to, to + start, value + done, bits)

#define PUT(type) \
    { \
        type *to = (type *)data; \
        const type *value = (const type *)values; \
        int wide = CAN_BE_WIDE(type); \
        FOR_CHOSEN(PUT_ONE, PUT_RUN, wide, PUT_BLOCK) \
    }
#define FILL_ONE(i) to[i] = value;

#define FILL_RUN(first, end) \
    for (int64_t i = first; i < end; i++) { \
        to[i] = value; \
    }
#define FILL_BLOCK(start, bits) WIDE(fill, *to, to + start, &value, bits)

#define FILL(type) \
    { \
        type *to = (type *)data; \
        type value = *(const type *)values; \
        int wide = CAN_BE_WIDE(type); \
        FOR_CHOSEN(FILL_ONE, FILL_RUN, wide, FILL_BLOCK) \
    }
#define FAR_ONE(i) memcpy((char *)data + (i) * itemsize, (const char *)values + step * done, itemsize);

#define FAR_RUN(first, end) \
    for (int64_t i = first; i < end; i++) { \
        memcpy((char *)data + i * itemsize, (const char *)values + step * (done + i - first), itemsize); \
    }

/* Stores values where a mask is set: one for each set element, or the same for all if `step` is 0. */
int64_t
runtime_mask_put(int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count, int64_t values, int64_t step)
{
    int64_t done = 0;
    if (count <= 0) {
        return 0;
    }
    if (step == 0) {
        OF_SIZE(itemsize, FILL)
    }
    else if (step == itemsize) {
        OF_SIZE(itemsize, PUT)
    }
    else {
        FOR_CHOSEN(FAR_ONE, FAR_RUN, 0, NO_BLOCK)
    }
    return 0;
}
