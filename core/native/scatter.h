/* Elements chosen by vectors of integers and by masks: stores, additions, and what a mask picks.
 *
 * Part of runtime.c, apart for its size. Where an index is out of range nothing is written, or it
 * is taken back. Nothing here needs the GIL. */
#ifndef PIJIT_SCATTER_H
#define PIJIT_SCATTER_H

#include "flags.h"
#include "gil.h"
#include "invoke.h"

#define MASK_BLOCK 256          /* elements of a mask that are looked at before the chosen ones are touched */

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
    int64_t count = 0;
    for (int64_t start = 0; start < size; start += MASK_BLOCK / 2) {
        int64_t end = size - start < MASK_BLOCK / 2 ? size : start + MASK_BLOCK / 2;
        uint8_t part = 0;
        for (int64_t i = start; i < end; i++) {
            part += bytes[i] != 0;
        }
        count += part;
    }
    return count;
}

/* Notes where a block of a mask is set: how often. */
static inline int64_t
block_chosen(const uint8_t *mask, int64_t start, int64_t size, int64_t *chosen)
{
    int64_t end = size - start < MASK_BLOCK ? size : start + MASK_BLOCK, found = 0;
    for (int64_t i = start; i < end; i++) {
        chosen[found] = i;
        found += mask[i] != 0;
    }
    return found;
}

#define FOR_CHOSEN(mask, size, most, body) \
    for (int64_t start = 0; start < size && done < most; start += MASK_BLOCK) { \
        int64_t found = block_chosen((const uint8_t *)mask, start, size, chosen); \
        found = found < most - done ? found : most - done; \
        for (int64_t k = 0; k < found; k++) { \
            body \
        } \
    }

#define PICK(type) FOR_CHOSEN(mask, size, count, ((type *)out)[done++] = ((const type *)data)[chosen[k]];)
#define PUT(type) FOR_CHOSEN(mask, size, count, ((type *)data)[chosen[k]] = *(const type *)(values + step * done++);)

/* Leaves in `out` the elements where a mask is set, which are `count` unless another thread writes to it. */
static int64_t
runtime_mask_pick(int64_t out, int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count)
{
    int64_t chosen[MASK_BLOCK + 1], done = 0;
    OF_SIZE(itemsize, PICK)
    return 0;
}

/* Stores values where a mask is set: one for each, or the same for all if `step` is 0. */
static int64_t
runtime_mask_put(int64_t data, int64_t mask, int64_t size, int64_t itemsize, int64_t count, int64_t values, int64_t step)
{
    int64_t chosen[MASK_BLOCK + 1], done = 0;
    OF_SIZE(itemsize, PUT)
    return 0;
}

#endif
