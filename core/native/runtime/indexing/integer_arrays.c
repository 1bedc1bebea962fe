/* Indexing by integer vectors: rows, stores, additions.
 *
 * For masks see masks.c. If an index is out of range, nothing is written, or the writes are undone. No function here
 * needs the GIL. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/indexing/masks.h"
#include "runtime/objects/stores.h"
#include <string.h>
#include <numpy/ufuncobject.h>

/* ---- vectors of integers ---- */

/* Describes writes to `count` elements of an array, each at an index. */
typedef struct {
    char *data;
    int64_t stride, size, itemsize;
    const int64_t *index;
    int64_t count;
    const char *values;
    int64_t step; /* bytes from one value to the next; 0 if there is only one value */
} Scatter;

#if defined(__GNUC__) && !defined(__clang__)
#define VECTORISED __attribute__((optimize("O3")))
#else
#define VECTORISED
#endif

/* True if all indices are in range. An index sets the sign bit if it is too large, or below 0 even when counted from
 * the end. The loop has only additions, subtractions and "or", which all processors vectorise. */
VECTORISED static int
indices_fit(const int64_t *indices, int64_t count, int64_t size)
{
    uint64_t beyond = 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t one = (uint64_t)indices[i];
        beyond |= (one + (uint64_t)size) | ((uint64_t)size - 1 - one);
    }
    return (int64_t)beyond >= 0;
}

/* Copies rows of `bytes` each, which are contiguous. Returns BAILED_OUT if an index is out of range. */
int64_t
runtime_rows(int64_t out, int64_t data, int64_t size, int64_t bytes, int64_t indices, int64_t count)
{
    const int64_t *index = (const int64_t *)indices;
    if (!indices_fit(index, count, size)) {
        return BAILED_OUT;
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

int64_t
runtime_scatter(int64_t spec)
{
    const Scatter *scatter = (const Scatter *)spec;
    if (!indices_fit(scatter->index, scatter->count, scatter->size)) {
        return BAILED_OUT;
    }
    OF_SIZE(scatter->itemsize, STORE_ALL)
    return 0;
}

#define ADD_ALL(type) \
    for (int64_t i = 0; i < scatter->count; i++) { \
        *(type *)scatter_place(scatter, i) += *(const type *)(scatter->values + i * scatter->step); \
    }

#define ADD_SOME(type, value) \
    for (int64_t i = 0; i < scatter->count; i++) { \
        uint64_t place = (uint64_t)index[i]; \
        if (__builtin_expect(place >= size, 0) && (place += size) >= size) { \
            status = BAILED_OUT; \
            break; \
        } \
        target[place] += value; \
    }

/* Adds, and checks each index before its addition. */
#define ADD_CHECKED(type) \
    { \
        const uint64_t size = (uint64_t)scatter->size; \
        type *target = (type *)scatter->data; \
        const type *value = (const type *)scatter->values, one = *value; \
        if (scatter->step == sizeof(type)) { \
            ADD_SOME(type, value[i]) \
        } \
        else if (scatter->step == 0) { \
            ADD_SOME(type, one) \
        } \
        else { \
            ADD_SOME(type, *(const type *)(scatter->values + i * scatter->step)) \
        } \
    }

/* Saves each old value before its addition. If the target is shorter than the indices, saves the whole target first and
 * checks indices during the additions. */
#define ADD_AND_NOTE(type) \
    for (int64_t i = 0; whole && i < scatter->size; i++) { \
        ((type *)before)[i] = *(type *)(scatter->data + i * scatter->stride); \
    } \
    if (whole && scatter->stride == sizeof(type)) \
        ADD_CHECKED(type) \
    for (int64_t i = 0; !(whole && scatter->stride == sizeof(type)) && i < scatter->count; i++) { \
        type *place = (type *)scatter_place(scatter, i); \
        if (!whole) { \
            ((type *)before)[i] = *place; \
        } \
        *place += *(const type *)(scatter->values + i * scatter->step); \
    }

#define TAKE_BACK(type) \
    for (int64_t i = whole ? scatter->size - 1 : -1; i >= 0; i--) { \
        *(type *)(scatter->data + i * scatter->stride) = ((const type *)before)[i]; \
    } \
    for (int64_t i = whole ? -1 : scatter->count - 1; i >= 0; i--) { \
        *(type *)scatter_place(scatter, i) = ((const type *)before)[i]; \
    }

/* Undoes all additions if NumPy would report a flag, so that bytecode can repeat them. */
#define ADD_OR_TAKE_BACK(type) \
    ADD_AND_NOTE(type) \
    if (status != 0 \
        || runtime_flags_test(NPY_FPE_DIVIDEBYZERO | NPY_FPE_OVERFLOW | NPY_FPE_UNDERFLOW | NPY_FPE_INVALID) != 0) { \
        TAKE_BACK(type) \
        status = BAILED_OUT; \
    }

static int64_t
add_floats(const Scatter *scatter)
{
    const int64_t *index = scatter->index;
    int whole = scatter->size < scatter->count;
    if (!(whole && scatter->stride == scatter->itemsize) && !indices_fit(index, scatter->count, scatter->size)) {
        return BAILED_OUT;
    }
    void *before = PyMem_RawMalloc((whole ? scatter->size : scatter->count) * scatter->itemsize + 1); /* owned */
    int64_t status = 0;
    if (before == NULL) {
        return BAILED_OUT;
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

int64_t
runtime_add_at(int64_t spec, int64_t floating)
{
    const Scatter *scatter = (const Scatter *)spec;
    if (floating) {
        return add_floats(scatter);
    }
    if (!indices_fit(scatter->index, scatter->count, scatter->size)) {
        return BAILED_OUT;
    }
    switch (scatter->itemsize) {
    case 1: ADD_ALL(uint8_t) break;
    case 2: ADD_ALL(uint16_t) break;
    case 4: ADD_ALL(uint32_t) break;
    default: ADD_ALL(uint64_t) break;
    }
    return 0;
}
