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

#define ELEMENT uint64_t
#define NAMED(x) x##_64
#define VECTOR 8
#define BITS __mmask8
#define INTRINSIC(x) x##_epi64
#include "runtime/indexing/masks_avx512.inc"

#define ELEMENT uint32_t
#define NAMED(x) x##_32
#define VECTOR 16
#define BITS __mmask16
#define INTRINSIC(x) x##_epi32
#include "runtime/indexing/masks_avx512.inc"

/* Calls a function for elements of 8 or 4 bytes. */
#define WIDE(name, type, to, from, bits) \
    (sizeof(type) == 8 ? name##_64((uint64_t *)(to), (const uint64_t *)(from), bits) \
                       : name##_32((uint32_t *)(to), (const uint32_t *)(from), bits))
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

#define ELEMENT uint8_t
#define NAMED(x) x##_8
#include "runtime/indexing/masks.inc"

#define ELEMENT uint16_t
#define NAMED(x) x##_16
#include "runtime/indexing/masks.inc"

#define ELEMENT uint32_t
#define NAMED(x) x##_32
#include "runtime/indexing/masks.inc"

#define ELEMENT uint64_t
#define NAMED(x) x##_64
#include "runtime/indexing/masks.inc"

#define ELEMENT Element16
#define NAMED(x) x##_128
#include "runtime/indexing/masks.inc"

/* Compacts the elements that a mask selects into `out`. They are `count`, unless another thread writes to the mask. */
int64_t
runtime_mask_pick(int64_t out, int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count)
{
    const uint8_t *bytes = (const uint8_t *)mask;
    switch (itemsize) {
    case 1: pick_8((uint8_t *)out, (const uint8_t *)data, bytes, size, count); break;
    case 2: pick_16((uint16_t *)out, (const uint16_t *)data, bytes, size, count); break;
    case 4: pick_32((uint32_t *)out, (const uint32_t *)data, bytes, size, count); break;
    case 8: pick_64((uint64_t *)out, (const uint64_t *)data, bytes, size, count); break;
    default: pick_128((Element16 *)out, (const Element16 *)data, bytes, size, count); break;
    }
    return 0;
}

/* Stores one value for each set element of a mask. */
static void
put(int64_t data, const uint8_t *mask, int64_t size, int64_t itemsize, int64_t count, int64_t values)
{
    switch (itemsize) {
    case 1: put_8((uint8_t *)data, (const uint8_t *)values, mask, size, count); break;
    case 2: put_16((uint16_t *)data, (const uint16_t *)values, mask, size, count); break;
    case 4: put_32((uint32_t *)data, (const uint32_t *)values, mask, size, count); break;
    case 8: put_64((uint64_t *)data, (const uint64_t *)values, mask, size, count); break;
    default: put_128((Element16 *)data, (const Element16 *)values, mask, size, count); break;
    }
}

/* Stores the same value for all set elements of a mask. */
static void
fill(int64_t data, const uint8_t *mask, int64_t size, int64_t itemsize, int64_t count, int64_t value)
{
    switch (itemsize) {
    case 1: fill_8((uint8_t *)data, *(const uint8_t *)value, mask, size, count); break;
    case 2: fill_16((uint16_t *)data, *(const uint16_t *)value, mask, size, count); break;
    case 4: fill_32((uint32_t *)data, *(const uint32_t *)value, mask, size, count); break;
    case 8: fill_64((uint64_t *)data, *(const uint64_t *)value, mask, size, count); break;
    default: fill_128((Element16 *)data, *(const Element16 *)value, mask, size, count); break;
    }
}

static inline void
put_apart_run(char *data, int64_t itemsize, const char *values, int64_t step, int64_t first, int64_t end)
{
    for (int64_t i = first; i < end; i++, values += step) {
        memcpy(data + i * itemsize, values, itemsize);
    }
}

/* Stores one value for each set element of a mask; the values are `step` bytes apart. */
static void
put_apart(char *data, const uint8_t *mask, int64_t size, int64_t itemsize, int64_t count, const char *values, int64_t step)
{
    const int wide = 0;
    int64_t done = 0;
#define ONE(i) memcpy(data + (i) * itemsize, values + step * done, itemsize)
#define RUN(first, end) put_apart_run(data, itemsize, values + step * done, step, first, end)
#define BLOCK(start, bits) 0
#include "runtime/indexing/set_elements.inc"
}

/* Stores values where a mask is set: one for each set element, or the same for all if `step` is 0. */
int64_t
runtime_mask_put(int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count, int64_t values, int64_t step)
{
    const uint8_t *bytes = (const uint8_t *)mask;
    if (count <= 0) {
        return 0;
    }
    if (step == 0) {
        fill(data, bytes, size, itemsize, count, values);
    }
    else if (step == itemsize) {
        put(data, bytes, size, itemsize, count, values);
    }
    else {
        put_apart((char *)data, bytes, size, itemsize, count, (const char *)values, step);
    }
    return 0;
}
