/* CPython's iterators over dicts and sets (3.7 to 3.10), which are in no header; see iterators.h. */
#ifndef PIJIT_DICT_ITERATOR_H
#define PIJIT_DICT_ITERATOR_H

#include <Python.h>

/* Of a dict or one of its views. */
typedef struct {
    PyObject_HEAD
    PyObject *dict;             /* NULL when it has ended */
    Py_ssize_t used;            /* as large the dict was */
    Py_ssize_t position;
    PyObject *result;
    Py_ssize_t left;
} DictIterator;

typedef struct {
    PyObject_HEAD
    PyObject *set;              /* NULL when it has ended */
    Py_ssize_t used;            /* as large the set was, -1 once it had another size */
    Py_ssize_t position;
    Py_ssize_t left;
} SetIterator;

#endif
