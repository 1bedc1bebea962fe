/* The layout of a JitFunction, on all versions; inlined functions. */
#ifndef PIJIT_FUNCTION_JIT_FUNCTION_INL_H
#define PIJIT_FUNCTION_JIT_FUNCTION_INL_H

#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "function/jit_function.h"

/* The wrapped function, borrowed; NULL with an exception set before __init__. */
static inline PyObject *
function_of(JitFunction *self)
{
    if (self->py_func == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "JitFunction.__init__ was not called");
    }
    return self->py_func;
}

/* Before a run that measures the original function: let recursive calls run the original at once, too. The result is
 * a new reference for plain_end, which undoes this, or NULL if there is nothing to undo. */
static inline JitFunction *
plain_begin(JitFunction *self, const TimedRun *run)
{
    if (run->timing == NULL || run->side != RUN_PLAIN || self->pace.rest > 0) {
        return NULL;
    }
    self->pace.rest = INT_MAX;
    Py_INCREF(self);
    return self;
}

static inline void
plain_end(JitFunction *quiet)
{
    if (quiet != NULL) {
        quiet->pace.rest = 0;
        Py_DECREF(quiet);
    }
}

#endif
