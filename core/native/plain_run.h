/* Runs of a function as bytecode that are measured: part of function.c, apart for its size. */
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

#endif
