/* Rewritten code: what runs in the place of Python functions on tapes. */
#ifndef PIJIT_TAPE_REWRITTEN_H
#define PIJIT_TAPE_REWRITTEN_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* NEW reference to a function with the rewritten code of another one and everything else from that; NULL with an
 * exception set, or without one if Python has to decide how the function runs. */
PyObject *rewritten_function(PyFunctionObject *function);

/* Functions of the module: remember_rewritten(code, rewritten, module) and forget_rewritten(code). */
PyObject *rewritten_remember(PyObject *module, PyObject *args);
PyObject *rewritten_forget(PyObject *module, PyObject *code);

#endif
