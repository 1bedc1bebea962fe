/* Ints as lookup keys, from CPython 3.11 on: made by the public C API, which hides the digits. Part of containers.h. */
#ifndef PIJIT_CPYTHON_INT_KEYS_311_INL_H
#define PIJIT_CPYTHON_INT_KEYS_311_INL_H

#include <Python.h>

/* An int to use as a lookup key: a new reference, or NULL with MemoryError set. */
static PyObject *
lookup_int(int64_t number)
{
    return PyLong_FromLongLong(number);
}

/* Release a lookup key. */
static void
lookup_done(PyObject *key)
{
    Py_DECREF(key);
}

#endif
