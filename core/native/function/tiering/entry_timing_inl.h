/* A/B timing of entries: the functions that each call goes through. They return at once for payloads that are not timed. */
#ifndef PIJIT_FUNCTION_TIERING_ENTRY_TIMING_INL_H
#define PIJIT_FUNCTION_TIERING_ENTRY_TIMING_INL_H

#include "function/tiering/entry_timing.h"

/* The code that calls run for a payload of an entry cache, borrowed: for an EntryTiming its payload, or Py_None if that has
 * lost; other payloads are returned unchanged. */
static inline PyObject *
timing_payload(PyObject *payload)
{
    return Py_TYPE(payload) == &EntryTiming_Type ? timing_subject(payload) : payload;
}

/* Start the clock for a payload, on the next side of an EntryTiming; for other payloads `run` says RUN_UNTIMED. */
static inline void
timing_begin(TimedRun *run, PyObject *payload)
{
    run->side = RUN_UNTIMED;
    run->timing = NULL;
    if (Py_TYPE(payload) == &EntryTiming_Type) {
        timing_start(run, payload);
    }
}

/* End a call, with or without a result, which stays the caller's. An exception that is set stays set. */
static inline void
timing_end(TimedRun *run, int succeeded)
{
    if (run->timing != NULL) {
        timing_finish(run, succeeded);
    }
}

/* Repeat the cache lookup of a measured call: its guards were checked before the clock started, and they are a part
 * of the cost of compiled code. */
static inline void
timing_repeat(const GuardsAPI *guards, PyObject *cache, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
              PyObject *builtins)
{
    Py_XDECREF(guards->cache_lookup(cache, slots, nslots, globals, builtins, NULL));
}

#endif
