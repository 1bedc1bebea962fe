/* Elements chosen by vectors of integers and by masks: stores, additions, and what a mask picks.
 *
 * Part of runtime.c, apart for its size. Where an index is out of range nothing is written, or it
 * is taken back. Nothing here needs the GIL. */
#ifndef PIJIT_SCATTER_H
#define PIJIT_SCATTER_H

#include "flags.h"
#include "gil.h"
#include "invoke.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define MASK_BLOCK 64           /* elements of a mask that are looked at at once */
#define FEW_GAPS 8              /* so many elements of a block may be missing for its runs to be copied */

typedef struct {
    int64_t first, second;
} Element16;

/* Calls RUN(type) for a type of the size of an element. */
#define OF_SIZE(size, RUN) \
    switch (size) { \
    case 1: RUN(uint8_t) break; \
    case 2: RUN(uint16_t) break; \
    case 4: RUN(uint32_t) break; \
    case 8: RUN(uint64_t) break; \
    default: RUN(Element16) break; \
    }

/* ---- vectors of integers ---- */

/* What is written: `count` times an element of `target` at an index. */
typedef struct {
    char *data;
    int64_t stride, size, itemsize;
    const int64_t *index;
    int64_t count;
    const char *values;
    int64_t step;               /* from one value to the next, 0 if all are one */
} Scatter;

static int
indices_fit(const int64_t *indices, int64_t count, int64_t size)
{
    uint64_t beyond = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = indices[i];
        beyond |= (uint64_t)(index < 0 ? index + size : index) >= (uint64_t)size;
    }
    return !beyond;
}

/* Copies rows of `bytes` each, which lie one behind the other; 1 when an index is out of range. */
static int64_t
runtime_rows(int64_t out, int64_t data, int64_t size, int64_t bytes, int64_t indices, int64_t count)
{
    const int64_t *index = (const int64_t *)indices;
    if (!indices_fit(index, count, size)) {
        return DECLINED;
    }
    for (int64_t i = 0; i < count; i++) {
        memcpy((char *)out + i * bytes, (const char *)data + (index[i] < 0 ? index[i] + size : index[i]) * bytes, bytes);
    }
    return 0;
}

static inline char *
scatter_place(const Scatter *scatter, int64_t i)
{
    int64_t index = scatter->index[i];
    return scatter->data + (index < 0 ? index + scatter->size : index) * scatter->stride;
}

#define STORE_ALL(type) \
    for (int64_t i = 0; i < scatter->count; i++) { \
        *(type *)scatter_place(scatter, i) = *(const type *)(scatter->values + i * scatter->step); \
    }

static int64_t
runtime_scatter(int64_t spec)
{
    const Scatter *scatter = (const Scatter *)spec;
    if (!indices_fit(scatter->index, scatter->count, scatter->size)) {
        return DECLINED;
    }
    OF_SIZE(scatter->itemsize, STORE_ALL)
    return 0;
}

#define ADD_ALL(type) \
    for (int64_t i = 0; i < scatter->count; i++) { \
        *(type *)scatter_place(scatter, i) += *(const type *)(scatter->values + i * scatter->step); \
    }

/* Each old value is noted before; or the whole target is, if that is shorter, and indices are checked on the way. */
#define ADD_AND_NOTE(type) \
    for (int64_t i = 0; whole && i < scatter->size; i++) { \
        ((type *)before)[i] = *(type *)(scatter->data + i * scatter->stride); \
    } \
    for (int64_t i = 0; whole && i < scatter->count; i++) { \
        int64_t index = scatter->index[i]; \
        index += index < 0 ? scatter->size : 0; \
        if ((uint64_t)index >= (uint64_t)scatter->size) { \
            status = DECLINED; \
            break; \
        } \
        *(type *)(scatter->data + index * scatter->stride) += *(const type *)(scatter->values + i * scatter->step); \
    } \
    for (int64_t i = 0; !whole && i < scatter->count; i++) { \
        type *place = (type *)scatter_place(scatter, i); \
        ((type *)before)[i] = *place; \
        *place += *(const type *)(scatter->values + i * scatter->step); \
    }

#define TAKE_BACK(type) \
    for (int64_t i = whole ? scatter->size - 1 : -1; i >= 0; i--) { \
        *(type *)(scatter->data + i * scatter->stride) = ((const type *)before)[i]; \
    } \
    for (int64_t i = whole ? -1 : scatter->count - 1; i >= 0; i--) { \
        *(type *)scatter_place(scatter, i) = ((const type *)before)[i]; \
    }

/* All or nothing: what NumPy would report, bytecode finds as it was. */
#define ADD_OR_TAKE_BACK(type) \
    ADD_AND_NOTE(type) \
    if (status != 0 || runtime_flags_test(NPY_FPE_DIVIDEBYZERO | NPY_FPE_OVERFLOW | NPY_FPE_UNDERFLOW \
                                          | NPY_FPE_INVALID) != 0) { \
        TAKE_BACK(type) \
        status = DECLINED; \
    }

static int64_t
add_floats(const Scatter *scatter)
{
    int whole = scatter->size < scatter->count;
    if (!whole && !indices_fit(scatter->index, scatter->count, scatter->size)) {
        return DECLINED;
    }
    void *before = PyMem_RawMalloc((whole ? scatter->size : scatter->count) * scatter->itemsize + 1);  /* owned */
    int64_t status = 0;
    if (before == NULL) {
        return DECLINED;
    }
    runtime_flags_clear();
    if (scatter->itemsize == sizeof(double)) {
        ADD_OR_TAKE_BACK(double)
    }
    else {
        ADD_OR_TAKE_BACK(float)
    }
    PyMem_RawFree(before);
    return status;
}

static int64_t
runtime_add_at(int64_t spec, int64_t floating)
{
    const Scatter *scatter = (const Scatter *)spec;
    if (floating) {
        return add_floats(scatter);
    }
    if (!indices_fit(scatter->index, scatter->count, scatter->size)) {
        return DECLINED;
    }
    switch (scatter->itemsize) {
    case 1: ADD_ALL(uint8_t) break;
    case 2: ADD_ALL(uint16_t) break;
    case 4: ADD_ALL(uint32_t) break;
    default: ADD_ALL(uint64_t) break;
    }
    return 0;
}

/* ---- masks ---- */

static int64_t
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

/* Bit k is set where element k of a block of a mask is. */
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

static inline int
has_few_gaps(uint64_t bits)
{
    uint64_t gaps = ~bits;
    for (int k = 0; k < FEW_GAPS; k++) {
        gaps &= gaps - 1;
    }
    return gaps == 0;
}

/* Does ONE(i) for each i where a mask is set, or RUN(first, behind) for all from one to another, as often as `count` says;
 * `done` counts. A block without any costs next to nothing, a full one what a copy costs. */
#define FOR_CHOSEN(ONE, RUN) \
    for (int64_t start = 0; start < size && done < count; start += MASK_BLOCK) { \
        uint64_t bits = block_bits((const uint8_t *)mask + start, size - start); \
        if (bits == 0) { \
            continue; \
        } \
        if (count - done < MASK_BLOCK || !has_few_gaps(bits)) { \
            for (; bits != 0 && done < count; bits &= bits - 1) { \
                ONE(start + __builtin_ctzll(bits)) \
                done++; \
            } \
            continue; \
        } \
        for (int64_t first = start, behind; first < start + MASK_BLOCK; first = behind + 1) { \
            uint64_t gaps = ~bits >> (first - start); \
            behind = gaps != 0 ? first + __builtin_ctzll(gaps) : start + MASK_BLOCK; \
            RUN(first, behind) \
            done += behind - first; \
        } \
    }

#define PICK_ONE(i) to[done] = from[i];
#define PICK_RUN(first, behind) memcpy(to + done, from + first, (behind - first) * sizeof(*to));
#define PICK(type) { \
    type *to = (type *)out; \
    const type *from = (const type *)data; \
    FOR_CHOSEN(PICK_ONE, PICK_RUN) \
    }

/* Leaves in `out` the elements where a mask is set, which are `count` unless another thread writes to it. */
static int64_t
runtime_mask_pick(int64_t out, int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count)
{
    int64_t done = 0;
    OF_SIZE(itemsize, PICK)
    return 0;
}

#define PUT_ONE(i) to[i] = value[done];
#define PUT_RUN(first, behind) memcpy(to + first, value + done, (behind - first) * sizeof(*to));
#define PUT(type) { \
    type *to = (type *)data; \
    const type *value = (const type *)values; \
    FOR_CHOSEN(PUT_ONE, PUT_RUN) \
    }

#define FILL_ONE(i) to[i] = value;
#define FILL_RUN(first, behind) for (int64_t i = first; i < behind; i++) { to[i] = value; }
#define FILL(type) { \
    type *to = (type *)data; \
    type value = *(const type *)values; \
    FOR_CHOSEN(FILL_ONE, FILL_RUN) \
    }
#define FAR_ONE(i) memcpy((char *)data + (i) * itemsize, (const char *)values + step * done, itemsize);
#define FAR_RUN(first, behind) for (int64_t i = first; i < behind; i++) { \
        memcpy((char *)data + i * itemsize, (const char *)values + step * (done + i - first), itemsize); \
    }

/* Stores values where a mask is set: one for each, or the same for all if `step` is 0. */
static int64_t
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
        FOR_CHOSEN(FAR_ONE, FAR_RUN)
    }
    return 0;
}

#endif
