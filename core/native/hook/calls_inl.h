/* Parts of all calls of a JitFunction up to CPython 3.10, by tp_call and by vectorcall. */
#ifndef PIJIT_HOOK_CALLS_INL_H
#define PIJIT_HOOK_CALLS_INL_H

#include "function/call_checks.h"
#include "function/call_checks_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "function/jit_function.h"
#include "function/tiering/pace_inl.h"
#include "hook/hooked.h"

/* Before a call that may need the hook. If it does, the result is a new reference for hooked_end; else NULL. */
static inline JitFunction *
hooked_begin(JitFunction *self, HookCall *call, PyObject *py_func, Dispatched how)
{
    if (how != DISPATCH_HOOKED) {
        return NULL;
    }
    hook_call_begin(call, (PyCodeObject *)PyFunction_GET_CODE(py_func));
    Py_INCREF(self);
    return self;
}

static inline void
hooked_end(JitFunction *paced, HookCall *call)
{
    hook_call_end(call);
    if (paced != NULL) {
        pace_note(&paced->pace, (Asked)call->asked);
        Py_DECREF(paced);
    }
}

/* The result of a call that needs no frame hook; or NULL, and *how tells how to go on. */
static inline PyObject *
function_dispatch(JitFunction *self, PyObject *py_func, const Arguments *arguments, TimedRun *run, Dispatched *how)
{
    PyObject *result = NULL; /* owned, given away */
    run->timing = NULL;
    if (watch_is_on(&self->watch) && watch_call(&self->watch, &self->pace, (PyFunctionObject *)py_func, arguments) < 0) {
        *how = DISPATCH_DONE;
        return NULL;
    }
    *how = self->enabled ? dispatch_call(&self->pace, (PyFunctionObject *)py_func, arguments, run, &result) : DISPATCH_PLAIN;
    return result;
}

#endif
