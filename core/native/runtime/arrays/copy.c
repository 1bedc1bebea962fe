/* Copies of array elements between buffers.
 *
 * NumPy does the copies that are large or may overlap. */
#include "launcher/abi.h"
#include "runtime/arrays/views.h"
#include "runtime/entries.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/pieces.h"
#include "runtime/runtime_inl.h"
#include "runtime/thread_pool.h"
#include <string.h>

typedef struct {
    const int64_t *shape, *dst_strides, *src_strides;
    char *dst, *src;
    int64_t ndim, size;
} Copy;

/* Copies elements [begin, end) of an axis, with all axes inside it. If there are no elements, the arrays may have no
 * memory. */
static void
copy_axis(const Copy *copy, int64_t axis, char *dst, char *src, int64_t begin, int64_t end)
{
    if (begin >= end) {
        return;
    }
    int64_t dst_stride = copy->dst_strides[axis], src_stride = copy->src_strides[axis];
    dst += begin * dst_stride;
    src += begin * src_stride;
    if (axis < copy->ndim - 1) {
        for (int64_t i = begin; i < end; i++, dst += dst_stride, src += src_stride) {
            copy_axis(copy, axis + 1, dst, src, 0, copy->shape[axis + 1]);
        }
    }
    else if (dst_stride == copy->size && src_stride == copy->size) {
        memcpy(dst, src, (end - begin) * copy->size);
    }
    else {
        elements_copy(dst, dst_stride, src, src_stride, end - begin, copy->size);
    }
}

static void
copy_part(int64_t begin, int64_t end, int64_t *arguments, void *Py_UNUSED(buffer))
{
    const Copy *copy = (const Copy *)arguments;
    copy_axis(copy, 0, copy->dst, copy->src, begin, end);
}

#define ELEMENT int64_t
#define NAME copy_ends_64
#include "runtime/arrays/copy_ends.inc"

#define ELEMENT int32_t
#define NAME copy_ends_32
#include "runtime/arrays/copy_ends.inc"

/* Copies the ends of rows. Returns 0 for element sizes that it does not copy. */
static int
copy_ends(const Copy *copy, int64_t axis, int64_t rows, int64_t begin, int64_t end, char *dst, char *src)
{
    switch (copy->size) {
    case 8: copy_ends_64(copy, axis, rows, begin, end, dst, src); return 1;
    case 4: copy_ends_32(copy, axis, rows, begin, end, dst, src); return 1;
    default: return 0;
    }
}

/* Copies the elements of an axis, with all axes inside it, except those of a box. The box must not be empty. */
static void
copy_axis_around(const Copy *copy, const int64_t *begin, const int64_t *box, int64_t axis, char *dst, char *src)
{
    int64_t first = begin[axis], end = first + box[axis], last = copy->ndim - 1;
    char *to = dst + first * copy->dst_strides[axis], *from = src + first * copy->src_strides[axis];
    copy_axis(copy, axis, dst, src, 0, first);
    if (axis < last - 1
        || (axis == last - 1 && !copy_ends(copy, axis, box[axis], begin[last], begin[last] + box[last], to, from))) {
        for (int64_t i = first; i < end; i++, to += copy->dst_strides[axis], from += copy->src_strides[axis]) {
            copy_axis_around(copy, begin, box, axis + 1, to, from);
        }
    }
    copy_axis(copy, axis, dst, src, end, copy->shape[axis]);
}

int64_t
runtime_copy_around(int64_t dst, int64_t src, int64_t inner, int64_t ndim, int64_t itemsize)
{
    const int64_t *to = (const int64_t *)dst, *from = (const int64_t *)src, *part = (const int64_t *)inner;
    const int64_t *shape = to + DESC_SHAPE, *box = part + DESC_SHAPE;
    Copy copy = {shape, shape + ndim, from + DESC_SHAPE + ndim, (char *)to[DESC_DATA], (char *)from[DESC_DATA],
                 ndim,  itemsize};
    int64_t begin[NEST_MAXDIMS], distance = part[DESC_DATA] - to[DESC_DATA];
    for (int64_t axis = 0; axis < ndim; axis++) {
        if (shape[axis] == 0) {
            return OK;
        }
        if (box[axis] == 0) {
            copy_axis(&copy, 0, copy.dst, copy.src, 0, shape[0]);
            return OK;
        }
    }
    for (int64_t axis = 0; axis < ndim; axis++) {
        begin[axis] = distance / copy.dst_strides[axis];
        distance %= copy.dst_strides[axis];
    }
    copy_axis_around(&copy, begin, box, 0, copy.dst, copy.src);
    return OK;
}

int64_t
runtime_copy_apart(int64_t dst, int64_t src, int64_t ndim, int64_t itemsize, int64_t least)
{
    const int64_t *to = (const int64_t *)dst, *from = (const int64_t *)src;
    const int64_t *to_strides = to + DESC_SHAPE + ndim, *from_strides = from + DESC_SHAPE + ndim;
    int64_t shape[NEST_MAXDIMS] = {1}, dst_strides[NEST_MAXDIMS] = {0}, src_strides[NEST_MAXDIMS] = {0}, last = 0;
    int64_t work = itemsize;
    /* Drops axes of length 1 and merges axes that form one run. */
    for (int64_t axis = 0; axis < ndim; axis++) {
        int64_t size = to[DESC_SHAPE + axis], dst_stride = to_strides[axis], src_stride = from_strides[axis];
        work *= size;
        if (size == 1) {
            continue;
        }
        if (shape[last] != 1 && (dst_strides[last] != dst_stride * size || src_strides[last] != src_stride * size)) {
            last++;
            shape[last] = 1;
        }
        shape[last] *= size;
        dst_strides[last] = dst_stride;
        src_strides[last] = src_stride;
    }
    ndim = last + 1;
    Copy copy = {shape, dst_strides, src_strides, (char *)to[DESC_DATA], (char *)from[DESC_DATA], ndim, itemsize};
    if (least == 0 || work < least) {
        copy_part(0, shape[0], (int64_t *)&copy, NULL);
    }
    else {
        pool_run(copy_part, (int64_t *)&copy, shape[0], ndim == 1 ? SHARED_ALIGN : 1, work, least);
    }
    return OK;
}

#define SMALL_COPY 4096 /* bytes; smaller copies are not worth NumPy's overhead */

/* Copies few elements if the shapes agree and the memory does not overlap. Returns 0 if it has not copied. */
static int
copy_small(const int64_t *dst, const int64_t *src, int64_t ndim, int64_t src_ndim, int64_t itemsize)
{
    const int64_t *shape = dst + DESC_SHAPE;
    int64_t bytes = itemsize;
    if (itemsize == 0 || ndim != src_ndim || ndim == 0 || memcmp(shape, src + DESC_SHAPE, ndim * sizeof(int64_t)) != 0) {
        return 0;
    }
    for (int64_t axis = 0; axis < ndim; axis++) {
        if (shape[axis] > SMALL_COPY) {
            return 0;
        }
        bytes = bytes > SMALL_COPY ? bytes : bytes * shape[axis];
    }
    if (bytes > SMALL_COPY || runtime_overlap((int64_t)dst, ndim, itemsize, (int64_t)src, ndim, itemsize)) {
        return 0;
    }
    runtime_copy_apart((int64_t)dst, (int64_t)src, ndim, itemsize, 0);
    return 1;
}

#define DENSE_COPY (1 << 20) /* bytes; for larger copies NumPy releases the GIL */

/* The bytes of an array in C order without gaps; -1 if it has gaps, another order, or more than DENSE_COPY bytes. */
static int64_t
dense_bytes(const int64_t *array, int64_t ndim, int64_t itemsize)
{
    const int64_t *shape = array + DESC_SHAPE, *strides = shape + ndim;
    int64_t bytes = itemsize;
    for (int64_t axis = ndim - 1; axis >= 0; axis--) {
        if ((strides[axis] != bytes && shape[axis] != 1) || shape[axis] > DENSE_COPY) {
            return -1;
        }
        bytes *= shape[axis];
        if (bytes > DENSE_COPY) {
            return -1;
        }
    }
    return bytes;
}

/* Copies arrays in C order without gaps that have one shape. Returns 0 if it has not copied. */
static int
copy_dense(const int64_t *dst, const int64_t *src, int64_t ndim, int64_t src_ndim, int64_t itemsize)
{
    if (itemsize == 0 || ndim != src_ndim || memcmp(dst + DESC_SHAPE, src + DESC_SHAPE, ndim * sizeof(int64_t)) != 0) {
        return 0;
    }
    int64_t bytes = dense_bytes(dst, ndim, itemsize);
    if (bytes < 0 || dense_bytes(src, ndim, itemsize) != bytes) {
        return 0;
    }
    if (bytes > 0) {
        memmove((char *)dst[DESC_DATA], (const char *)src[DESC_DATA], (size_t)bytes);
    }
    return 1;
}

int64_t
runtime_copy(int64_t frame, int64_t dst, int64_t dst_ndim, int64_t typenum, int64_t src, int64_t src_ndim)
{
    const int64_t *to = (const int64_t *)dst, *from = (const int64_t *)src;
    int64_t itemsize = value_size((int)typenum);
    if (copy_dense(to, from, dst_ndim, src_ndim, itemsize) || copy_small(to, from, dst_ndim, src_ndim, itemsize)) {
        return OK;
    }
    int64_t status = LAUNCHER_ERROR;
    PyObject *target = array_wrap((int64_t *)dst, (int)dst_ndim, (int)typenum, NULL); /* owned */
    PyObject *source = array_wrap((int64_t *)src, (int)src_ndim, (int)typenum, NULL); /* owned */
    if (target != NULL && source != NULL && PyArray_CopyInto((PyArrayObject *)target, (PyArrayObject *)source) == 0) {
        status = OK;
    }
    Py_XDECREF(target);
    Py_XDECREF(source);
    return status;
}
