/* Suspended generators, and functions, made from exit values. Part of marshal_inl.h.
 *
 * A suspended generator is the one that the call would have made, after some steps. Its frame has the variables, the
 * operand stack and the blocks that belong after the yield at which it is suspended. */
#ifndef PIJIT_LAUNCHER_GENERATORS_INL_H
#define PIJIT_LAUNCHER_GENERATORS_INL_H

#include "launcher/codes/codes.h"

#if PY_VERSION_HEX < 0x030B0000
#include "cpython/generators_37_310_inl.h"
#else
#include "cpython/generators_311_inl.h"
#endif

/* A function with `globals`; the values are its code, its qualified name, then its cells. */
static PyObject *
function_make(PyObject *values, PyObject *globals)
{
    Py_ssize_t count = PyTuple_GET_SIZE(values);
    PyObject *function = PyFunction_NewWithQualName(PyTuple_GET_ITEM(values, 0), globals,
                                                    PyTuple_GET_ITEM(values, 1)); /* new: the result */
    if (function == NULL || count == 2) {
        return function;
    }
    PyObject *closure = PyTuple_GetSlice(values, 2, count); /* owned */
    if (closure == NULL || PyFunction_SetClosure(function, closure) < 0) {
        Py_CLEAR(function);
    }
    Py_XDECREF(closure);
    return function;
}

#endif
