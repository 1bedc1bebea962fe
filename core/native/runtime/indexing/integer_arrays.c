/* Indexing by integer vectors: rows, stores, additions.
 *
 * For masks see masks.c. If an index is out of range, nothing is written, or the writes are undone. No function here
 * needs the GIL. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/indexing/masks.h"
#include "runtime/objects/stores.h"
#include "runtime/runtime_inl.h"
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

#define ELEMENT uint8_t
#define NAMED(x) x##_8
#include "runtime/indexing/scatter.inc"

#define ELEMENT uint16_t
#define NAMED(x) x##_16
#include "runtime/indexing/scatter.inc"

#define ELEMENT uint32_t
#define NAMED(x) x##_32
#include "runtime/indexing/scatter.inc"

#define ELEMENT uint64_t
#define NAMED(x) x##_64
#include "runtime/indexing/scatter.inc"

static void
store_128(const Scatter *scatter)
{
    for (int64_t i = 0; i < scatter->count; i++) {
        *(Element16 *)scatter_place(scatter, i) = *(const Element16 *)(scatter->values + i * scatter->step);
    }
}

int64_t
runtime_scatter(int64_t spec)
{
    const Scatter *scatter = (const Scatter *)spec;
    if (!indices_fit(scatter->index, scatter->count, scatter->size)) {
        return BAILED_OUT;
    }
    switch (scatter->itemsize) {
    case 1: store_8(scatter); break;
    case 2: store_16(scatter); break;
    case 4: store_32(scatter); break;
    case 8: store_64(scatter); break;
    default: store_128(scatter); break;
    }
    return OK;
}

#define REAL double
#define NAMED(x) x##_doubles
#include "runtime/indexing/add_floats.inc"

#define REAL float
#define NAMED(x) x##_floats
#include "runtime/indexing/add_floats.inc"

static int64_t
add_floats(const Scatter *scatter)
{
    int whole = scatter->size < scatter->count;
    if (!(whole && scatter->stride == scatter->itemsize) && !indices_fit(scatter->index, scatter->count, scatter->size)) {
        return BAILED_OUT;
    }
    void *before = PyMem_RawMalloc((whole ? scatter->size : scatter->count) * scatter->itemsize + 1); /* owned */
    if (before == NULL) {
        return BAILED_OUT;
    }
    runtime_flags_clear();
    int64_t status = scatter->itemsize == sizeof(double) ? add_or_restore_doubles(scatter, whole, before)
                                                         : add_or_restore_floats(scatter, whole, before);
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
    case 1: add_8(scatter); break;
    case 2: add_16(scatter); break;
    case 4: add_32(scatter); break;
    default: add_64(scatter); break;
    }
    return OK;
}
