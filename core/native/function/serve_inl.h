/* Cache lookup for a call of a marked code object, on all versions. */
#ifndef PIJIT_FUNCTION_SERVE_INL_H
#define PIJIT_FUNCTION_SERVE_INL_H

#include "evaluate.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/tiering/pace_inl.h"

#define MOST_SLOTS 64

static void
fetched_release(Fetched *fetched)
{
    while (fetched->count > 0) {
        Py_DECREF(fetched->items[--fetched->count]);
    }
}

/* The payload for a call, from the cache or on_miss: a NEW reference, or NULL with the exception of on_miss set. */
static PyObject *
payload_of_call(const Mark *mark, Pace *pace, const BoundCall *call, Fetched *fetched)
{
    PyObject *globals = call->function->func_globals; /* borrowed */
    PyObject *payload = NULL;                         /* owned */
    if (mark->cache != NULL) {
        payload = mark->guards->cache_lookup(mark->cache, call->slots, call->nslots, globals, call->builtins, fetched);
    }
    marks_count(payload != NULL);
    if (payload != NULL) {
        pace_note(pace, dispatch_in_vain(mark->guards, mark->cache, payload) ? ASKED_IN_VAIN : ASKED_WELL);
        return payload;
    }
    Asked asked;
    payload = marks_ask(mark->on_miss, call->code, call->slots, call->nslots, globals, call->builtins, &asked);
    pace_note(pace, asked);
    return payload;
}

#endif
