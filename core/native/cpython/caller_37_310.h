/* Threads and callers in CPython 3.7 to 3.10: the calling frame is at hand. Part of caller.h. */
#ifndef PIJIT_CALLER_37_310_H
#define PIJIT_CALLER_37_310_H

#include "cpython/untraced_call.h"

/* Whether sys.settrace or sys.setprofile is active on a thread. */
static inline int
thread_is_traced(PyThreadState *tstate)
{
    return *thread_tracing(tstate);
}

/* How many levels of recursion a thread has left. */
static inline int
thread_levels_left(PyThreadState *tstate)
{
    return Py_GetRecursionLimit() - tstate->recursion_depth;
}

/* What runs the linked code that calls; only its identity counts. NULL where there is none. */
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

/* The locals of the calling frame at some slots, to be given back by caller_locals_end: 1; 0 where one is unbound. */
static inline int
caller_locals(PyThreadState *tstate, const Py_ssize_t *slots, Py_ssize_t count, PyObject **values)
{
    PyFrameObject *frame = tstate->frame;  /* borrowed */
    int bound = frame != NULL;
    for (Py_ssize_t i = 0; bound && i < count; i++) {
        values[i] = slots[i] < frame->f_code->co_nlocals ? frame->f_localsplus[slots[i]] : NULL;  /* borrowed */
        bound = values[i] != NULL;
    }
    return bound;
}

static inline void
caller_locals_end(PyObject **values, Py_ssize_t count)
{
}

#endif
