/* Structs of Python's iterators, which no header of CPython declares. */
#ifndef PIJIT_LAUNCHER_ITERATOR_STRUCTS_INL_H
#define PIJIT_LAUNCHER_ITERATOR_STRUCTS_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "cpython/dict_iterator_inl.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the layout of iterators: nobody has looked at this version of CPython"
#endif

#if PY_VERSION_HEX < 0x030C0000
#include "cpython/range_iterator_37_311_inl.h"
#else
#include "cpython/range_iterator_312_inl.h"
#endif

/* The iterator that iter() makes for a list, a string, bytes or an object without __iter__, or that reversed()
 * makes. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t index;
    PyObject *sequence; /* NULL when it has ended */
} SequenceIterator;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    PyObject *inner;
} Enumerate;

typedef struct {
    PyObject_HEAD
    Py_ssize_t size;
    PyObject *inners; /* a tuple */
    PyObject *result;
#if PY_VERSION_HEX >= 0x030A0000
    int strict;
#endif
} Zip;

static inline int
zip_is_strict(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030A0000
    return ((Zip *)object)->strict;
#else
    return 0;
#endif
}

#endif
