/* Input codes of a launcher are run here: from objects to frame words. The functions are inlined into the hot path. */
#ifndef PIJIT_LAUNCHER_INPUTS_INL_H
#define PIJIT_LAUNCHER_INPUTS_INL_H

#include "launcher/abi.h"
#include "launcher/codes/codes.h"
#include "launcher/marshal/iterators.h"
#include "launcher/marshal/words_inl.h"

static inline int
array_load(const Input *input, PyObject *object, int64_t *words)
{
    if (!PyArray_Check(object) || PyArray_NDIM((PyArrayObject *)object) != input->ndim) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    const npy_intp *shape = PyArray_DIMS(array);
    const npy_intp *strides = PyArray_STRIDES(array);
    words[DESC_DATA] = (int64_t)PyArray_DATA(array);
    words[DESC_OBJECT] = (int64_t)object;
    for (int axis = 0; axis < input->ndim; axis++) {
        words[DESC_SHAPE + axis] = shape[axis];
        words[DESC_SHAPE + input->ndim + axis] = strides[axis];
    }
    return 1;
}

static inline int
typed_array_load(const Input *input, PyObject *object, int64_t *words)
{
    if (!PyArray_CheckExact(object) || PyArray_NDIM((PyArrayObject *)object) != input->ndim) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != input->typenum || (PyArray_FLAGS(array) & input->mask) != input->flags
        || !PyArray_ISNOTSWAPPED(array)) {
        return 0;
    }
    words[DESC_DATA] = (int64_t)PyArray_DATA(array);
    words[DESC_OBJECT] = (int64_t)object;
    for (int axis = 0; axis < input->ndim; axis++) {
        words[DESC_SHAPE + axis] = PyArray_DIM(array, axis);
        words[DESC_SHAPE + input->ndim + axis] = PyArray_STRIDE(array, axis);
    }
    return 1;
}

static inline int
scalar_input_load(const Input *input, PyObject *object, int64_t *words)
{
    if (Py_TYPE(object) != input->type) {
        return 0;
    }
    scalar_words(object, input->typenum, words);
    return 1;
}

/* The words of one fetched object; 0 if it does not match the code. */
static inline int
input_load(const Input *input, PyObject *object, int64_t *words)
{
    int overflow = 0;

    switch (input->kind) {
    case IN_SKIP: return 1;
    case IN_ARRAY: return array_load(input, object, words);
    case IN_INT:
        if (!PyLong_CheckExact(object)) {
            return 0;
        }
        words[0] = PyLong_AsLongLongAndOverflow(object, &overflow);
        return !overflow;
    case IN_FLOAT:
        if (!PyFloat_CheckExact(object)) {
            return 0;
        }
        words[0] = word_from_double(PyFloat_AS_DOUBLE(object));
        return 1;
    case IN_BOOL: words[0] = object == Py_True; return PyBool_Check(object);
    case IN_COMPLEX:
        if (!PyComplex_CheckExact(object)) {
            return 0;
        }
        words[0] = word_from_double(((PyComplexObject *)object)->cval.real);
        words[1] = word_from_double(((PyComplexObject *)object)->cval.imag);
        return 1;
    case IN_SCALAR: return scalar_input_load(input, object, words);
    case IN_OBJECT:
        words[0] = (int64_t)object; /* borrowed: the launcher holds fetched objects until the kernel has ended */
        return !PyUnicode_CheckExact(object) || PyUnicode_IS_READY(object);
    case IN_TYPED_ARRAY: return typed_array_load(input, object, words);
    default: return iterator_load(input, object, words);
    }
}

#endif
