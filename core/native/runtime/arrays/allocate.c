/* Array allocation: with a ufunc's layout, on pooled memory, or on an operand's memory. */
#include "runtime/arrays/allocate.h"
#include "launcher/abi.h"
#include "runtime/arrays/array_cache.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/arrays/elision.h"
#include "runtime/arrays/free_lists_inl.h"
#include "runtime/arrays/large_results.h"
#include "runtime/entries.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/runtime_inl.h"
#include <string.h>

void
words_to_dims(npy_intp *dims, const int64_t *words, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        dims[i] = (npy_intp)words[i];
    }
}

/* The size in bytes of an array of a shape. 0 if it has no elements or exceeds BUFFER_POOL_BYTES. */
static size_t
shape_bytes(const npy_intp *shape, int ndim, npy_intp itemsize)
{
    size_t bytes = (size_t)itemsize;
    for (int axis = 0; axis < ndim; axis++) {
        if (shape[axis] <= 0 || shape[axis] > BUFFER_POOL_BYTES) {
            return 0;
        }
        bytes *= (size_t)shape[axis]; /* without overflow: both are at most BUFFER_POOL_BYTES */
        if (bytes > BUFFER_POOL_BYTES) {
            return 0;
        }
    }
    return bytes;
}

/* A new array from the free list, from the cache, on a block of the buffer pool, on reusable result memory, or on NumPy's
 * memory. */
static PyObject *
array_new(OwnedList *owned, int typenum, int is_private, int ndim, npy_intp *shape, npy_intp *strides, int fortran)
{
    int varies = 0;
    size_t bytes = shape_bytes(shape, ndim, value_size(typenum));
    if (bytes != 0 && bytes < BUFFER_POOL_SMALLEST) {
        PyObject *kept = owned_reuse(owned, typenum, ndim, bytes, is_private, &varies); /* owned, given away */
        if (kept != NULL) {
            array_reshape((PyArrayObject *)kept, shape, strides, fortran);
            return kept;
        }
        if (!varies && bytes <= CACHED_ARRAY_BYTES) {
            PyObject *cached = cached_array(typenum, ndim, shape, strides, fortran, bytes); /* new: the result */
            if (cached != NULL || PyErr_Occurred()) {
                return cached;
            }
        }
    }
    PyArray_Descr *descr = PyArray_DescrFromType(typenum); /* stolen by the new array */
    if (descr == NULL) {
        return NULL;
    }
    if (is_private && (varies || bytes >= BUFFER_POOL_SMALLEST)) {
        return pooled_array(descr, ndim, shape, strides, fortran, bytes);
    }
    if (result_is_ours(bytes)) {
        return result_array(descr, ndim, shape, strides, fortran, bytes);
    }
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, NULL, fortran ? NPY_ARRAY_F_CONTIGUOUS : 0, NULL);
}

/* Allocates an array for desc, owned by the frame. `strides` is NULL for plain C or Fortran order. `typenum` may
 * include PRIVATE. */
static int64_t
array_alloc(int64_t frame, int64_t *desc, int typenum, int ndim, npy_intp *strides, int fortran)
{
    npy_intp shape[NPY_MAXDIMS];
    OwnedList *owned = frame_owned(frame);
    words_to_dims(shape, desc + DESC_SHAPE, ndim);
    PyObject *object = array_new(owned, typenum & ~PRIVATE, typenum & PRIVATE, ndim, shape, strides,
                                 fortran); /* moved to the list */
    if (object == NULL || owned_push(owned, object) < 0) {
        return LAUNCHER_ERROR;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    desc[DESC_DATA] = (int64_t)PyArray_DATA(array);
    desc[DESC_OBJECT] = (int64_t)object;
    for (int axis = 0; axis < ndim; axis++) {
        desc[DESC_SHAPE + ndim + axis] = PyArray_STRIDE(array, axis);
    }
    return OK;
}

int64_t
runtime_alloc(int64_t frame, int64_t desc, int64_t typenum, int64_t ndim, int64_t order)
{
    return array_alloc(frame, (int64_t *)desc, (int)typenum, (int)ndim, NULL, order != 0);
}

/* The array itself, or a copy of it if it is on a block of the buffer pool. Owned by the frame. 0 with an exception set
 * on failure. */
int64_t
runtime_own(int64_t frame, int64_t object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_BASE(array) == NULL || Py_TYPE(PyArray_BASE(array)) != &block_type) {
        return object;
    }
    PyArray_Descr *descr = PyArray_DESCR(array); /* stolen by the copy */
    Py_INCREF(descr);
    PyObject *copy = PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(array), PyArray_DIMS(array),
                                          PyArray_STRIDES(array), NULL, 0, NULL); /* moved to the list */
    if (copy == NULL || owned_push(frame_owned(frame), copy) < 0 || PyArray_CopyInto((PyArrayObject *)copy, array) < 0) {
        return 0;
    }
    return (int64_t)copy;
}

/* Makes an array object for desc: a copy of a contiguous array that has no object. Owned by the frame. */
int64_t
runtime_copied(int64_t frame, int64_t desc, int64_t ndim, int64_t typenum)
{
    int64_t *words = (int64_t *)desc, made[DESC_SHAPE + 2 * NPY_MAXDIMS];
    int64_t bytes = value_size((int)typenum);
    for (int64_t axis = 0; axis < ndim; axis++) {
        made[DESC_SHAPE + axis] = words[DESC_SHAPE + axis];
        bytes *= words[DESC_SHAPE + axis];
    }
    if (array_alloc(frame, made, (int)typenum, (int)ndim, NULL, 0) != OK) {
        return LAUNCHER_ERROR;
    }
    if (bytes > 0) {
        memcpy((void *)made[DESC_DATA], (const void *)words[DESC_DATA], (size_t)bytes);
    }
    words[DESC_OBJECT] = made[DESC_OBJECT];
    return OK;
}

void
operands_read(Operand *operands, const int64_t *words, int64_t nops)
{
    for (int64_t op = 0; op < nops; op++, words += 3) {
        operands[op].ndim = (int)words[0];
        operands[op].desc = (const int64_t *)words[1];
        operands[op].into = words[2] > 0 ? (int)(words[2] >> INTO_SHIFT) : INTO_NEVER;
        operands[op].itemsize = words[2] - ((int64_t)operands[op].into << INTO_SHIFT);
    }
}

int64_t
runtime_layout_like(int64_t desc, int64_t ndim, int64_t itemsize, int64_t nops, int64_t ops)
{
    Operand operands[NEST_MAXOPS];
    operands_read(operands, (const int64_t *)ops, nops);
    strides_like((int64_t *)desc, (int)ndim, itemsize, operands, (int)nops);
    int taken;
    return strides_elided((int64_t *)desc, (int)ndim, itemsize, operands, (int)nops, &taken);
}

int64_t
runtime_alloc_like(int64_t frame, int64_t desc, int64_t typenum, int64_t ndim, int64_t nops, int64_t ops)
{
    Operand operands[NEST_MAXOPS];
    operands_read(operands, (const int64_t *)ops, nops);
    int order = operands_order(operands, (int)nops);
    if ((order != 0 || ndim < 2) && !operands_may_be_elided(operands, (int)nops)) {
        return array_alloc(frame, (int64_t *)desc, (int)typenum, (int)ndim, NULL, order == ORDER_F);
    }
    npy_intp strides[NPY_MAXDIMS];
    int64_t *words = (int64_t *)desc;
    int size = value_size((int)typenum & ~PRIVATE);
    strides_like(words, (int)ndim, size, operands, (int)nops);
    int taken;
    if (strides_elided(words, (int)ndim, size, operands, (int)nops, &taken)) {
        return 1;
    }
    const Operand *free = operand_to_reuse(words, (int)ndim, operands, (int)nops, taken);
    if (free != NULL) {
        words[DESC_DATA] = free->desc[DESC_DATA];
        words[DESC_OBJECT] = free->desc[DESC_OBJECT];
        return runtime_retain(frame, words[DESC_OBJECT]);
    }
    words_to_dims(strides, words + DESC_SHAPE + ndim, ndim);
    return array_alloc(frame, words, (int)typenum, (int)ndim, strides, 0);
}
