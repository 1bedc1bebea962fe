/* Runs of a function by CPython, measured ones and those that the hook serves: part of function.c, apart for its size. */
#ifndef PIJIT_PLAIN_RUN_H
#define PIJIT_PLAIN_RUN_H

/* Before a run that is measured as the function is: calls of the function inside it run as they are too, at once. What
 * it returns says whether plain_end is to undo that, and has a reference then. */
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

/* Before a call that may need the hook; what it returns has a reference if it does, for hooked_end. */
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

#endif
