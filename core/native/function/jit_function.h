/* The layout of a JitFunction, on all versions. For jit_function.c and its calls (hook/calls.h or hidden/calls.h). */
#ifndef PIJIT_CORE_JIT_FUNCTION_H
#define PIJIT_CORE_JIT_FUNCTION_H

#include "function/cold_functions.h"
#include "function/call_checks.h"

typedef struct {
    PyObject_HEAD
#if PY_VERSION_HEX >= 0x03080000
    vectorcallfunc vectorcall;
#endif
    PyObject *py_func; /* owned; a function; NULL before __init__ and after clear */
    PyObject *state;   /* owned; may be NULL; for the pipeline */
    PyObject *dict;    /* owned; may be NULL */
    PyObject *weakrefs;
    Pace pace;
    Watch watch;
    Heat heat;
    char enabled;
    PyObject *kept; /* owned; a list of hidden functions, from CPython 3.11 on; may be NULL */
} JitFunction;

/* The wrapped function, borrowed; NULL with an exception set before __init__. */
static PyObject *
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
plain_begin(JitFunction *self, const TrialRun *run)
{
    if (run->trial == NULL || run->side != TRIAL_PLAIN || self->pace.rest > 0) {
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
