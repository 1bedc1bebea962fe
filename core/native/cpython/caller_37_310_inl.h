/* Threads and callers in CPython 3.7 to 3.10, where the thread state has the calling frame. Part of caller.h. */
#ifndef PIJIT_CPYTHON_CALLER_37_310_INL_H
#define PIJIT_CPYTHON_CALLER_37_310_INL_H

#include <Python.h>
#include <frameobject.h>
#include "cpython/untraced_call_inl.h"

/* Whether sys.settrace or sys.setprofile is active on a thread. */
static inline int
thread_is_traced(PyThreadState *tstate)
{
    return *thread_tracing(tstate);
}

/* The number of recursion levels that a thread has left. */
static inline int
thread_levels_left(PyThreadState *tstate)
{
    return Py_GetRecursionLimit() - tstate->recursion_depth;
}

/* The identity of the run of linked code that is calling; NULL: none. Never dereferenced. */
static inline const void *
caller_running(PyThreadState *tstate)
{
    return tstate->frame;
}

static inline PyObject *
caller_globals(PyThreadState *tstate)
{
    return tstate->frame != NULL ? tstate->frame->f_globals : NULL;
}

static inline PyObject *
caller_builtins(PyThreadState *tstate)
{
    return tstate->frame != NULL ? tstate->frame->f_builtins : NULL;
}

static inline void
caller_locals_end(PyObject **values, Py_ssize_t count)
{
    while (count > 0) {
        Py_DECREF(values[--count]);
    }
}

/* Read the locals of the calling frame at `slots`; caller_locals_end releases them. 1; 0 if one is unbound. */
static inline int
caller_locals(PyThreadState *tstate, const Py_ssize_t *slots, Py_ssize_t count, PyObject **values)
{
    PyFrameObject *frame = tstate->frame; /* borrowed */
    Py_ssize_t found = 0;
    while (frame != NULL && found < count && slots[found] < frame->f_code->co_nlocals) {
        values[found] = frame->f_localsplus[slots[found]]; /* owned by the caller */
        if (values[found] == NULL) {
            break;
        }
        Py_INCREF(values[found++]);
    }
    if (frame == NULL || found < count) {
        caller_locals_end(values, found);
        return 0;
    }
    return 1;
}

#endif
