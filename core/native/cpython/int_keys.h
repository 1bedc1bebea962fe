/* Ints as lookup keys of dicts. One implementation per CPython family. */
#ifndef PIJIT_CPYTHON_INT_KEYS_H
#define PIJIT_CPYTHON_INT_KEYS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* An int to use as a lookup key, which must not be stored: a NEW reference, or NULL with MemoryError set. */
PyObject *lookup_int(int64_t number);

/* Release a lookup key. */
void lookup_done(PyObject *key);

#endif
