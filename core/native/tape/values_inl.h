/* Tests of the values that operations on tapes handle in C. */
#ifndef PIJIT_TAPE_VALUES_INL_H
#define PIJIT_TAPE_VALUES_INL_H

#include "numpy_api.h"

static inline int
is_number_type(int typenum)
{
    return PyTypeNum_ISNUMBER(typenum) || PyTypeNum_ISBOOL(typenum);
}

/* Whether an object is a scalar of one of NumPy's own number types. */
static inline int
is_numpy_number(PyObject *x)
{
    return (PyArray_IsScalar(x, Number) || PyArray_IsScalar(x, Bool)) && !(Py_TYPE(x)->tp_flags & Py_TPFLAGS_HEAPTYPE);
}

/* Whether an object is a number or an array of numbers whose operations call no methods in Python. */
static inline int
is_plain(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    if (type == &PyArray_Type) {
        return is_number_type(PyArray_TYPE((PyArrayObject *)x));
    }
    return type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyComplex_Type
           || is_numpy_number(x);
}

/* Whether an object is a complex number or an array of complex numbers. */
static inline int
is_complex(PyObject *x)
{
    return PyArray_Check(x) ? PyArray_ISCOMPLEX((PyArrayObject *)x)
                            : PyComplex_Check(x) || PyArray_IsScalar(x, ComplexFloating);
}

static inline int
same_shape(PyArrayObject *a, PyArrayObject *b)
{
    return PyArray_NDIM(a) == PyArray_NDIM(b) && PyArray_CompareLists(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a));
}

#endif
