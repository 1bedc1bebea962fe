/* Access: what a helper for subscripts, attributes or truth tests has: the helper in Python. */
#ifndef PIJIT_TAPE_ACCESS_H
#define PIJIT_TAPE_ACCESS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject Access_Type;

/* NEW reference to a helper, a function whose first argument in C is an Access; NULL with an exception set. */
PyObject *access_new(PyMethodDef *definition, PyObject *other);

/* The helper in Python, borrowed from the Access. */
PyObject *access_other(PyObject *self);

#endif
