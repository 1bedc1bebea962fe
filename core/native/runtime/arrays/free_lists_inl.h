/* Free list: arrays that a kernel has released, kept for arrays that it makes later.
 *
 * A loop makes the same arrays in each iteration. Nothing else refers to a kept array, so a program cannot tell it from
 * a new one. It keeps its memory, and NumPy must find the same number of bytes when it frees it. An array on a block of
 * the buffer pool never leaves the kernel, so only such an array may become a smaller one. The launcher releases all
 * kept arrays when it returns. */
#ifndef PIJIT_RUNTIME_ARRAYS_FREE_LISTS_INL_H
#define PIJIT_RUNTIME_ARRAYS_FREE_LISTS_INL_H

#include "launcher/abi.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/runtime_inl.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the references to an array: nobody has looked at this version of CPython"
#endif

/* True if an array owns its memory and has the flags of a new NumPy array, apart from its order. */
static inline int
array_is_plain(PyArrayObject *array)
{
    int flags = PyArray_FLAGS(array) & ~(NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    PyObject *base = PyArray_BASE(array); /* borrowed */
    if (base == NULL) {
        return flags == (NPY_ARRAY_OWNDATA | NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE);
    }
    return flags == (NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE) && Py_TYPE(base) == &block_type && Py_REFCNT(base) == 1;
}

/* The size of an array's memory in bytes. Its type must be one that kernels compute with. */
static inline size_t
array_bytes(PyArrayObject *array)
{
    PyObject *base = PyArray_BASE(array); /* borrowed */
    if (base != NULL) {
        return ((Block *)base)->size;
    }
    size_t bytes = (size_t)value_size(PyArray_TYPE(array));
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        bytes *= (size_t)PyArray_DIM(array, axis);
    }
    return bytes;
}

/* True if a dtype object is the only one that NumPy has for a type of numbers. */
static inline int
dtype_is_numpys(const PyArray_Descr *descr)
{
    static const PyArray_Descr *known[NPY_HALF + 1]; /* never released */
    int typenum = descr->type_num;
    if (value_size(typenum) == 0) {
        return 0;
    }
    if (known[typenum] == NULL) {
        known[typenum] = PyArray_DescrFromType(typenum);
    }
    return known[typenum] == descr;
}

/* Releases a reference. If it is the last one to an array that can be reused, the array goes to the free list. */
static inline void
owned_drop(OwnedList *owned, PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (Py_REFCNT(object) != 1 || !PyArray_CheckExact(object) || !array_is_plain(array)
        || ((PyArrayObject_fields *)object)->weakreflist != NULL || !dtype_is_numpys(PyArray_DESCR(array))) {
        Py_DECREF(object);
        return;
    }
    size_t bytes = array_bytes(array);
    if (bytes == 0 || bytes >= BUFFER_POOL_SMALLEST) {
        Py_DECREF(object);
        return;
    }
    int place = 0;
    while (place < owned->kept_end && owned->kept[place].array != NULL) {
        place++;
    }
    if (place == owned->kept_end && place < OWNED_KEPT) {
        owned->kept_end++;
    }
    else if (place == OWNED_KEPT) {
        place = owned->kept_next;
        owned->kept_next = (place + 1) % OWNED_KEPT;
        Py_DECREF(owned->kept[place].array);
    }
    owned->kept[place] = (KeptArray){object, bytes, PyArray_TYPE(array), PyArray_NDIM(array), PyArray_BASE(array) != NULL};
}

/* Sets the shape and strides of a kept array. If `strides` is NULL, they are those of C or Fortran order. */
static inline void
array_reshape(PyArrayObject *array, const npy_intp *shape, const npy_intp *strides, int fortran)
{
    int ndim = PyArray_NDIM(array), changed = 0;
    npy_intp stride = value_size(PyArray_TYPE(array)), *dims = PyArray_DIMS(array), *steps = PyArray_STRIDES(array);
    for (int i = 0; i < ndim; i++) {
        int axis = fortran ? i : ndim - 1 - i;
        npy_intp own = strides != NULL ? strides[axis] : stride;
        changed |= dims[axis] != shape[axis] || steps[axis] != own;
        dims[axis] = shape[axis];
        steps[axis] = own;
        stride *= shape[axis];
    }
    if (changed && (ndim > 1 || !PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS))) {
        PyArray_UpdateFlags(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS);
    }
}

/* A kept array of a type and number of axes with memory for `bytes`: a new reference, or NULL. *varies is set if one
 * differs in size only. */
static inline PyObject *
owned_reuse(OwnedList *owned, int typenum, int ndim, size_t bytes, int is_private, int *varies)
{
    for (int place = 0; place < owned->kept_end; place++) {
        KeptArray *kept = &owned->kept[place];
        if (kept->array == NULL || kept->ndim != ndim || kept->typenum != typenum) {
            continue;
        }
        if (kept->on_block ? is_private && kept->bytes >= bytes : kept->bytes == bytes) {
            PyObject *array = kept->array;
            kept->array = NULL;
            return array;
        }
        *varies = 1;
    }
    return NULL;
}

#endif
