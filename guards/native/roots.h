/* The roots of an evaluation: the values that sources start from, and their forms as Python objects. */
#ifndef PIJIT_GUARDS_ROOTS_H
#define PIJIT_GUARDS_ROOTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The roots of an evaluation; all borrowed. */
typedef struct {
    PyObject *const *values;
    Py_ssize_t nvalues;
    PyObject *globals;
    PyObject *builtins;
} Roots;

/* Reads the arguments (values, globals, builtins) of a Python call as roots. Returns the tuple that owns the values, NEW;
 * NULL with an exception set. roots_release frees both. */
PyObject *roots_parse(PyObject *args, Roots *roots);
void roots_release(Roots *roots, PyObject *holder);

/* NEW list of the root values, UNBOUND for NULL. */
PyObject *roots_as_list(const Roots *roots);

/* NEW list of `count` borrowed objects, or None if there is no array. */
PyObject *objects_as_list(PyObject *const *objects, Py_ssize_t count);

#endif
