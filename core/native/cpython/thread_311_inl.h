/* Threads and code objects from CPython 3.11 on: operations whose names or counters differ by version. */
#ifndef PIJIT_CPYTHON_THREAD_311_INL_H
#define PIJIT_CPYTHON_THREAD_311_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "cpython/recursion_311_inl.h"

/* Whether sys.settrace or sys.setprofile is active on a thread. Neither is while one of their functions runs. */
static inline int
thread_is_traced(PyThreadState *tstate)
{
    return (tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL) && tstate->tracing == 0;
}

/* run.c: whether recursion levels and C stack leave room for a capture. */
int thread_has_room(PyThreadState *tstate);

/* monitoring_*.c: whether a tool of sys.monitoring listens to events of all code, or of this code object. */
int code_is_monitored(PyThreadState *tstate, PyCodeObject *code);

/* Whether a tracer, a profiler or a tool of sys.monitoring observes calls of this code object. */
static inline int
code_is_observed(PyThreadState *tstate, PyCodeObject *code)
{
    return thread_is_traced(tstate) || code_is_monitored(tstate, code);
}

static inline int
interpreter_ends(void)
{
#if PY_VERSION_HEX >= 0x030d0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

#if PY_VERSION_HEX >= 0x030c0000

/* Undo around a call that tp_call makes the level of C recursion that its caller has counted. */
static inline void
thread_refund_call(PyThreadState *tstate)
{
    tstate->c_recursion_remaining++;
}

static inline void
thread_charge_call(PyThreadState *tstate)
{
    tstate->c_recursion_remaining--;
}

/* CPython's operations on code extras. */
static inline Py_ssize_t
code_extra_request(freefunc end)
{
    return PyUnstable_Eval_RequestCodeExtraIndex(end);
}

static inline int
code_extra_read(PyCodeObject *code, Py_ssize_t index, void **extra)
{
    return PyUnstable_Code_GetExtra((PyObject *)code, index, extra);
}

static inline int
code_extra_write(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return PyUnstable_Code_SetExtra((PyObject *)code, index, extra);
}

#else

static inline void
thread_refund_call(PyThreadState *tstate)
{
    tstate->recursion_remaining++;
}

static inline void
thread_charge_call(PyThreadState *tstate)
{
    tstate->recursion_remaining--;
}

static inline Py_ssize_t
code_extra_request(freefunc end)
{
    return _PyEval_RequestCodeExtraIndex(end);
}

static inline int
code_extra_read(PyCodeObject *code, Py_ssize_t index, void **extra)
{
    return _PyCode_GetExtra((PyObject *)code, index, extra);
}

static inline int
code_extra_write(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return _PyCode_SetExtra((PyObject *)code, index, extra);
}

#endif

#endif
