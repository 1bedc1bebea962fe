/* Descriptors whose __get__ on a class is code of CPython, although no header of CPython declares it. */
#ifndef PIJIT_GUARDS_TRUSTED_GETTERS_H
#define PIJIT_GUARDS_TRUSTED_GETTERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The type of the fields of named tuples (CPython 3.8 and later): owned; NULL: none. */
extern PyTypeObject *tuple_getter_type;

/* The __get__ of the type that trust_getter was called with; NULL: none. */
extern descrgetfunc trusted_getter;

/* Finds tuple_getter_type: 0, or -1 with an exception set. */
int tuple_getter_find(void);

/* trust_getter(type) of the module; METH_O. */
PyObject *module_trust_getter(PyObject *module, PyObject *type);

#endif
