/* Array objects over the memory of descriptors, their release, and overlaps of operands. */
#include "runtime/arrays/views.h"
#include "launcher/abi.h"
#include "runtime/arrays/allocate.h"
#include "runtime/arrays/free_lists_inl.h"
#include "runtime/entries.h"
#include "runtime/objects/strings.h"
#include "runtime/runtime_inl.h"
#include <string.h>

int64_t
runtime_retain(int64_t frame, int64_t object)
{
    Py_INCREF((PyObject *)object);
    return owned_push(frame_owned(frame), (PyObject *)object) < 0 ? LAUNCHER_ERROR : OK;
}

int64_t
runtime_release(int64_t frame, int64_t object)
{
    if (owned_take(frame_owned(frame), (PyObject *)object)) {
        owned_drop(frame_owned(frame), (PyObject *)object);
    }
    return OK;
}

PyObject *
array_wrap(const int64_t *desc, int ndim, int typenum, PyArrayObject *base)
{
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    words_to_dims(shape, desc + DESC_SHAPE, ndim);
    words_to_dims(strides, desc + DESC_SHAPE + ndim, ndim);
    PyArray_Descr *descr; /* stolen by the new array */
    int flags = NPY_ARRAY_WRITEABLE;
    if (base != NULL && PyArray_TYPE(base) == typenum) {
        descr = PyArray_DESCR(base);
        Py_INCREF(descr);
    }
    else {
        descr = PyArray_DescrFromType(typenum);
        if (descr == NULL) {
            return NULL;
        }
    }
    if (base != NULL && !PyArray_ISWRITEABLE(base)) {
        flags = 0;
    }
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, (void *)desc[DESC_DATA], flags,
                                          NULL); /* new: the result */
    if (view == NULL || base == NULL) {
        return view;
    }
    Py_INCREF(base);
    if (PyArray_SetBaseObject((PyArrayObject *)view, (PyObject *)base) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    return view;
}

int64_t
runtime_view(int64_t frame, int64_t desc, int64_t ndim, int64_t typenum, int64_t base)
{
    int64_t *words = (int64_t *)desc;
    PyObject *view = array_wrap(words, (int)ndim, (int)typenum, (PyArrayObject *)base); /* moved to the list */
    if (view == NULL || owned_push(frame_owned(frame), view) < 0) {
        return LAUNCHER_ERROR;
    }
    words[DESC_OBJECT] = (int64_t)view;
    return OK;
}

void
desc_extent(const int64_t *desc, int64_t ndim, int64_t itemsize, int64_t *low, int64_t *high)
{
    const int64_t *shape = desc + DESC_SHAPE;
    *low = desc[DESC_DATA];
    *high = *low + itemsize;
    for (int64_t axis = 0; axis < ndim; axis++) {
        int64_t span = (shape[axis] - 1) * shape[ndim + axis];
        if (shape[axis] == 0) {
            *high = *low = desc[DESC_DATA];
            return;
        }
        *(span < 0 ? low : high) += span;
    }
}

int64_t
runtime_overlap(int64_t a, int64_t a_ndim, int64_t a_size, int64_t b, int64_t b_ndim, int64_t b_size)
{
    int64_t a_low, a_high, b_low, b_high;
    desc_extent((const int64_t *)a, a_ndim, a_size, &a_low, &a_high);
    desc_extent((const int64_t *)b, b_ndim, b_size, &b_low, &b_high);
    return a_low < a_high && b_low < b_high && a_low < b_high && b_low < a_high;
}

int64_t
runtime_same(int64_t a, int64_t b, int64_t ndim)
{
    const int64_t *x = (const int64_t *)a, *y = (const int64_t *)b;
    return x[DESC_DATA] == y[DESC_DATA] && memcmp(x + DESC_SHAPE, y + DESC_SHAPE, 2 * ndim * sizeof(int64_t)) == 0;
}
