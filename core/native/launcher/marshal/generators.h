/* Suspended generators, and functions, made from exit values.
 *
 * A suspended generator is the one that the call would have made, after some steps. Its frame has the variables, the
 * operand stack and the blocks that belong after the yield at which it is suspended. */
#ifndef PIJIT_LAUNCHER_GENERATORS_H
#define PIJIT_LAUNCHER_GENERATORS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* cpython/generators_*.c: a NEW generator, or NULL with an exception set. `values` is the function, then the values of
 * the plan's slots and, up to CPython 3.10, of the operand stack. */
PyObject *generator_make(PyObject *plan, PyObject *values);

#endif
