/* Guard checks: the conditions of guards on fetched values.
 *
 * No function here runs user code, allocates, or leaves an exception set. Each returns 1 if its condition holds, else
 * 0. They need numpy/arrayobject.h and its imported API. */
#ifndef PIJIT_GUARDS_CHECK_INL_H
#define PIJIT_GUARDS_CHECK_INL_H

#include "checks/array_check_inl.h"
#include "fetch_inl.h"
#include "function_code_inl.h"
#include <stdint.h>
#include <string.h>

/* Equality of two values of the same exact builtin type, by that type's own comparison. */
static inline int
builtin_equal(PyObject *expected, PyObject *value)
{
    PyObject *answer = Py_TYPE(expected)->tp_richcompare(expected, value, Py_EQ); /* owned */
    if (answer == NULL) {
        PyErr_Clear();
        return 0;
    }
    Py_DECREF(answer); /* True and False are never freed */
    return answer == Py_True;
}

/* Same exact type and value, floats by their bits; `expected` is a constant that Equals accepts. */
static inline int
constant_matches(PyObject *expected, PyObject *value)
{
    if (expected == value) {
        return 1;
    }
    if (Py_TYPE(expected) != Py_TYPE(value)) {
        return 0;
    }
    if (PyFloat_CheckExact(expected)) {
        return memcmp(&((PyFloatObject *)expected)->ob_fval, &((PyFloatObject *)value)->ob_fval, sizeof(double)) == 0;
    }
    if (PyComplex_CheckExact(expected)) {
        return memcmp(&((PyComplexObject *)expected)->cval, &((PyComplexObject *)value)->cval, sizeof(Py_complex)) == 0;
    }
    if (PyTuple_CheckExact(expected)) {
        Py_ssize_t size = PyTuple_GET_SIZE(expected);
        int equal = size == PyTuple_GET_SIZE(value);
        for (Py_ssize_t i = 0; equal && i < size; i++) {
            equal = constant_matches(PyTuple_GET_ITEM(expected, i), PyTuple_GET_ITEM(value, i));
        }
        return equal;
    }
    int comparable = PyLong_CheckExact(expected) || PyUnicode_CheckExact(expected) || PyBytes_CheckExact(expected);
    return comparable && builtin_equal(expected, value);
}

static inline int
int_fits_64(PyObject *value)
{
    int overflow = 1;
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    (void)PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0;
}

static inline int
length_matches(PyObject *value, Py_ssize_t length)
{
    if (PyDict_CheckExact(value)) {
        return PyDict_GET_SIZE(value) == length;
    }
    return (PyList_CheckExact(value) || is_plain_tuple(value)) && Py_SIZE(value) == length;
}

static inline int
function_has_code(PyObject *value, PyObject *code)
{
    return PyFunction_Check(value) && function_code((PyFunctionObject *)value) == code;
}

/* The address range [low, high) of an array's elements; low == high if it has none. */
static inline void
array_extent(PyArrayObject *array, uintptr_t *low, uintptr_t *high)
{
    *low = *high = (uintptr_t)PyArray_DATA(array);
    if (PyArray_SIZE(array) == 0) {
        return;
    }
    for (int i = 0; i < PyArray_NDIM(array); i++) {
        npy_intp reach = PyArray_STRIDE(array, i) * (PyArray_DIM(array, i) - 1);
        if (reach < 0) {
            *low += (uintptr_t)reach;
        }
        else {
            *high += (uintptr_t)reach;
        }
    }
    *high += (uintptr_t)PyArray_ITEMSIZE(array);
}

static inline int
arrays_are_apart(PyObject *first, PyObject *second)
{
    uintptr_t first_low, first_high, second_low, second_high;
    if (!value_is_array(first) || !value_is_array(second)) {
        return 0;
    }
    array_extent((PyArrayObject *)first, &first_low, &first_high);
    array_extent((PyArrayObject *)second, &second_low, &second_high);
    if (first_low == first_high || second_low == second_high) {
        return 1;
    }
    return first_high <= second_low || second_high <= first_low;
}

static inline int
shapes_match(PyObject *first, PyObject *second)
{
    if (!value_is_array(first) || !value_is_array(second)) {
        return 0;
    }
    PyArrayObject *a = (PyArrayObject *)first, *b = (PyArrayObject *)second;
    return PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

/* The length of an axis of an exact array; -1 for other objects. */
static inline npy_intp
axis_length(PyObject *value, Py_ssize_t axis)
{
    if (!value_is_array(value) || axis < 0 || axis >= PyArray_NDIM((PyArrayObject *)value)) {
        return -1;
    }
    return PyArray_DIM((PyArrayObject *)value, (int)axis);
}

/* `rule` is bytes: least, most, divisor, remainder as int64. */
static inline int
axis_obeys(PyObject *value, Py_ssize_t axis, PyObject *rule)
{
    int64_t words[4], length = axis_length(value, axis);
    if (length < 0 || !PyBytes_CheckExact(rule) || PyBytes_GET_SIZE(rule) != sizeof(words)) {
        return 0;
    }
    memcpy(words, PyBytes_AS_STRING(rule), sizeof(words));
    return length >= words[0] && length <= words[1] && words[2] > 0 && length >= words[3]
           && (length - words[3]) % words[2] == 0;
}

static inline int
axes_match(PyObject *first, Py_ssize_t axis, PyObject *second, Py_ssize_t other)
{
    npy_intp length = axis_length(first, axis);
    return length >= 0 && length == axis_length(second, other);
}

/* Whether the axes of an exact array that have length 1 are those whose bits are set in `mask`. */
static inline int
unit_axes_are(PyObject *value, Py_ssize_t mask)
{
    if (!value_is_array(value) || PyArray_NDIM((PyArrayObject *)value) > 62) {
        return 0;
    }
    Py_ssize_t found = 0;
    for (int axis = 0; axis < PyArray_NDIM((PyArrayObject *)value); axis++) {
        found |= (Py_ssize_t)(PyArray_DIM((PyArrayObject *)value, axis) == 1) << axis;
    }
    return found == mask;
}

#endif
