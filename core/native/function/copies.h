/* Copies and pickles of a JitFunction. */
#ifndef PIJIT_FUNCTION_COPIES_H
#define PIJIT_FUNCTION_COPIES_H

#include "function/dispatch.h"
#include "function/jit_function.h"

PyObject *function_reduce(JitFunction *self, PyObject *Py_UNUSED(args));

/* __copy__ and __deepcopy__: a function is its own copy. */
PyObject *function_copy(PyObject *self, PyObject *Py_UNUSED(args));

#endif
