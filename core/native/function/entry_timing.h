/* A/B timing of entries against the original function: interface of entry_timing.c.
 *
 * dispatch.c, hook.c and jit_function.c use it. */
#ifndef PIJIT_CORE_TRIAL_H
#define PIJIT_CORE_TRIAL_H

#include "evaluate.h"
#include <stdint.h>

typedef enum {
    TRIAL_UNTIMED, /* the payload runs, and the run is not measured */
    TRIAL_KERNELS, /* the payload runs, and is measured */
    TRIAL_PLAIN    /* the original function runs, and is measured */
} TrialSide;

/* A call that goes through a Trial. */
typedef struct {
    PyObject *trial; /* owned from trial_begin to trial_end; NULL: nothing is measured */
    TrialSide side;
    int64_t start; /* in ns */
} TrialRun;

extern PyTypeObject Trial_Type;

/* entry_timing.c: the same as the functions of entry_timing_inl.h, for a Trial or a run of one. */
PyObject *trial_subject(PyObject *trial);
TrialSide trial_next(PyObject *trial);
void trial_start(TrialRun *run, PyObject *trial);
void trial_finish(TrialRun *run, int succeeded);

/* code_marks.c: call one of pijit's Python callables, while nothing is captured on this thread. Takes over `args`, a
 * tuple, or NULL with an exception set. Errors are reported as those of `code`. */
void paused_tell(PyObject *callable, PyObject *args, PyObject *code);

/* code_marks.c: as paused_tell, but returns the answer: a NEW reference, or NULL without an exception. */
PyObject *paused_call(PyObject *callable, PyObject *args, PyObject *code);

#endif
