/* Function hooks: calls of plain Python functions go to a JitFunction, as long as that may pay. */
#ifndef PIJIT_CPYTHON_FUNCTION_HOOKS_H
#define PIJIT_CPYTHON_FUNCTION_HOOKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* Add the functions on hooks to a module, where this CPython has hooks: 0, or -1 with an exception set. */
int function_hooks_add(PyObject *module);

/* Add the processor time of a sample to the functions that run this code object, if their calls are not timed. The
 * samples are numbered, so that a recursive function counts once. */
void hooks_add_sample(PyObject *code, int64_t ns, unsigned long sample);

#endif
