/* The condition on an array's dtype and layout, for guard programs and for their clients. */
#ifndef PIJIT_GUARDS_ARRAY_CHECK_INL_H
#define PIJIT_GUARDS_ARRAY_CHECK_INL_H

#include "numpy_api.h"

static inline int
value_is_array(PyObject *value)
{
    return Py_TYPE(value) == &PyArray_Type;
}

/* Whether a type number and native byte order determine the dtype: true for plain numbers and objects. */
static inline int
dtype_is_simple(int number)
{
    return (number >= NPY_BOOL && number <= NPY_OBJECT) || number == NPY_HALF;
}

static inline int
dtype_matches(PyArray_Descr *dtype, PyArray_Descr *expected)
{
    if (dtype == expected) {
        return 1;
    }
    if (dtype_is_simple(expected->type_num)) { /* int64 has two numbers, which programs can distinguish */
        return dtype->type_num == expected->type_num && PyArray_ISNBO(dtype->byteorder);
    }
    return PyArray_EquivTypes(dtype, expected);
}

static inline int
array_matches(PyObject *value, PyObject *dtype, int ndim, int mask, int flags)
{
    if (!value_is_array(value)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    return PyArray_NDIM(array) == ndim && (PyArray_FLAGS(array) & mask) == flags
           && dtype_matches(PyArray_DESCR(array), (PyArray_Descr *)dtype);
}

#endif
