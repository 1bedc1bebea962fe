/* The rate at which calls of a function ask the cache: how an outcome changes it. */
#ifndef PIJIT_FUNCTION_TIERING_PACE_INL_H
#define PIJIT_FUNCTION_TIERING_PACE_INL_H

#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"

/* Record the outcome for a call that has asked the cache. */
static inline void
pace_note(Pace *pace, Asked asked)
{
    pace->in_vain = asked != ASKED_WELL ? pace->in_vain + 1 : 0;
    if (asked != ASKED_FOR_NOTHING) {
        pace->doublings = 0;
    }
    if (pace->in_vain >= PATIENCE) {
        pace->in_vain = PATIENCE - 1;
        pace->rest = (PATIENCE - 1) << pace->doublings;
        pace->doublings += asked == ASKED_FOR_NOTHING && pace->doublings < MOST_DOUBLINGS;
    }
}

/* Whether the entry that serves a call, and all other entries of its cache, say that nothing is worth a kernel. */
static inline int
dispatch_in_vain(const GuardsAPI *guards, PyObject *cache, PyObject *payload)
{
    return payload != NULL && timing_payload(payload) == Py_None && cache_in_vain(guards, cache);
}

#endif
