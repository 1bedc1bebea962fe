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

/* entry_timing.c: the same as the functions below, for a Trial or a run of one. */
PyObject *trial_subject(PyObject *trial);
TrialSide trial_next(PyObject *trial);
void trial_start(TrialRun *run, PyObject *trial);
void trial_finish(TrialRun *run, int succeeded);

/* The code that calls run for a payload of an entry cache, borrowed: for a Trial its payload, or Py_None if that has
 * lost; other payloads are returned unchanged. */
static inline PyObject *
trial_payload(PyObject *payload)
{
    return Py_TYPE(payload) == &Trial_Type ? trial_subject(payload) : payload;
}

/* The side that a call runs for a payload: the next side of a Trial; TRIAL_UNTIMED for other payloads. */
static inline TrialSide
trial_side(PyObject *payload)
{
    return Py_TYPE(payload) == &Trial_Type ? trial_next(payload) : TRIAL_UNTIMED;
}

/* Start the clock for a payload, on the side that trial_side tells. `run` is filled in any case. */
static inline void
trial_begin(TrialRun *run, PyObject *payload)
{
    run->side = TRIAL_UNTIMED;
    run->trial = NULL;
    if (Py_TYPE(payload) == &Trial_Type) {
        trial_start(run, payload);
    }
}

/* End a call, with or without a result, which stays the caller's. An exception that is set stays set. */
static inline void
trial_end(TrialRun *run, int succeeded)
{
    if (run->trial != NULL) {
        trial_finish(run, succeeded);
    }
}

/* Repeat the cache lookup of a measured call: its guards were checked before the clock started, and they are a part
 * of the cost of compiled code. */
static inline void
trial_repeat(const GuardsAPI *guards, PyObject *cache, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
             PyObject *builtins)
{
    Py_XDECREF(guards->cache_lookup(cache, slots, nslots, globals, builtins, NULL));
}

/* code_marks.h: call one of pijit's Python callables, while nothing is captured on this thread. Takes over `args`, a
 * tuple, or NULL with an exception set. Errors are reported as those of `code`. */
void paused_tell(PyObject *callable, PyObject *args, PyObject *code);

/* code_marks.h: as paused_tell, but returns the answer: a NEW reference, or NULL without an exception. */
PyObject *paused_call(PyObject *callable, PyObject *args, PyObject *code);

#endif
