/* Between entry_timing.c, dispatch.c, hook.c and jit_function.c: entries that are measured against the function as it is. */
#ifndef PIJIT_CORE_TRIAL_H
#define PIJIT_CORE_TRIAL_H

#include "evaluate.h"
#include <stdint.h>

typedef enum {
    TRIAL_UNTIMED,               /* the payload is to run, and the run is not measured */
    TRIAL_KERNELS,               /* the payload is to run, and is measured */
    TRIAL_PLAIN                  /* the function is to run as it is, and is measured */
} TrialSide;

/* A call that goes through a Trial. */
typedef struct {
    PyObject *trial;             /* owned from trial_begin to trial_end; NULL: nothing is measured */
    TrialSide side;
    int64_t start;               /* in ns */
} TrialRun;

extern PyTypeObject Trial_Type;

/* entry_timing.c: these four for a Trial, or a run of one. */
PyObject *trial_subject(PyObject *trial);
TrialSide trial_next(PyObject *trial);
void trial_start(TrialRun *run, PyObject *trial);
void trial_finish(TrialRun *run, int succeeded);

/* What calls run for a payload of an entry cache, borrowed: what a Trial is about, Py_None if it has lost; other
 * payloads are returned as they are. */
static inline PyObject *
trial_payload(PyObject *payload)
{
    return Py_TYPE(payload) == &Trial_Type ? trial_subject(payload) : payload;
}

/* What a call is to run for a payload: which side a Trial has next; TRIAL_UNTIMED for other payloads. */
static inline TrialSide
trial_side(PyObject *payload)
{
    return Py_TYPE(payload) == &Trial_Type ? trial_next(payload) : TRIAL_UNTIMED;
}

/* Start the clock for a payload, as trial_side says. `run` is filled in any case. */
static inline void
trial_begin(TrialRun *run, PyObject *payload)
{
    run->side = TRIAL_UNTIMED;
    run->trial = NULL;
    if (Py_TYPE(payload) == &Trial_Type) {
        trial_start(run, payload);
    }
}

/* The call is over, with or without a result, which is the caller's; an exception that is set stays so. */
static inline void
trial_end(TrialRun *run, int succeeded)
{
    if (run->trial != NULL) {
        trial_finish(run, succeeded);
    }
}

/* Look a measured call up in its cache once more: before the clock started the guards were checked, and they are a part of
 * what compiled code costs. */
static inline void
trial_repeat(const GuardsAPI *guards, PyObject *cache, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
             PyObject *builtins)
{
    Py_XDECREF(guards->cache_lookup(cache, slots, nslots, globals, builtins, NULL));
}

/* code_marks.h: call something of ours that Python code defines, on a thread where nothing is captured meanwhile; takes over
 * `args`, a tuple, or NULL with an exception. Errors are reported as those of `code`. */
void paused_tell(PyObject *callable, PyObject *args, PyObject *code);

/* code_marks.h: as paused_tell; the answer, a NEW reference, or NULL without an exception. */
PyObject *paused_call(PyObject *callable, PyObject *args, PyObject *code);

#endif
