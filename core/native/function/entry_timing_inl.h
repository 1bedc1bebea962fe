/* A/B timing of entries: the functions that each call goes through. They return at once for payloads that are not timed. */
#ifndef PIJIT_CORE_ENTRY_TIMING_INL_H
#define PIJIT_CORE_ENTRY_TIMING_INL_H

#include "function/entry_timing.h"

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

#endif
