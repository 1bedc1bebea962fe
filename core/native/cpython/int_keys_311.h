/* Ints to look something up by, from CPython 3.11 on: their digits are CPython's own affair. Part of containers.h. */
#ifndef PIJIT_INT_KEYS_311_H
#define PIJIT_INT_KEYS_311_H

#include <Python.h>

/* An int to look something up by: a new reference, NULL with MemoryError set. */
static PyObject *
lookup_int(int64_t number)
{
    return PyLong_FromLongLong(number);
}

/* Takes the reference back. */
static void
lookup_done(PyObject *key)
{
    Py_DECREF(key);
}

#endif
