/* Calls of pijit's own Python code that sys.settrace and sys.setprofile must not see.
 *
 * Such code is observers of types and kernels of the Python back end. A program may switch tracing on in the middle of
 * linked code. */
#ifndef PIJIT_CPYTHON_UNTRACED_CALL_INL_H
#define PIJIT_CPYTHON_UNTRACED_CALL_INL_H

#include <Python.h>

/* The thread's flag for tracing of the frames that start now. */
static inline int *
thread_tracing(PyThreadState *tstate)
{
#if PY_VERSION_HEX >= 0x030a0000
    return &tstate->cframe->use_tracing;
#else
    return &tstate->use_tracing;
#endif
}

/* NEW reference to callable(*arguments), or NULL with an exception set. */
static inline PyObject *
untraced_call(PyObject *callable, PyObject *arguments)
{
    PyThreadState *tstate = PyThreadState_Get();
    int traced = *thread_tracing(tstate);
    *thread_tracing(tstate) = 0;
    tstate->tracing++;                                           /* up to CPython 3.9 line events test only this */
    PyObject *result = PyObject_Call(callable, arguments, NULL); /* owned, given away */
    tstate->tracing--;
    *thread_tracing(tstate) = traced;
    return result;
}

#endif
