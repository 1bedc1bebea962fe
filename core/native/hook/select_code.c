/* Selection of the code that runs in a frame: the payload from a cache, on_miss or the code filter. */
#include "hook/select_code.h"
#include "function/callees.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/code_marks.h"
#include "function/marks/marks_inl.h"
#include "function/tiering/pace_inl.h"
#include "hook/install.h"

Py_ssize_t
frame_slot_count(PyFrameObject *frame)
{
    PyCodeObject *code = frame->f_code; /* borrowed from the frame */
    return code->co_nlocals + PyTuple_GET_SIZE(code->co_cellvars) + PyTuple_GET_SIZE(code->co_freevars);
}

/* The payload that a cache, which may be NULL, or on_miss has for a frame: a NEW reference, or NULL with the
 * exception of on_miss set. Takes references of its own, because `unmark` may run meanwhile. `call` is the frame's,
 * or NULL. */
static PyObject *
payload_of_cache(PyObject *cache, PyObject *on_miss, PyFrameObject *frame, HookCall *call)
{
    Py_XINCREF(cache);
    Py_INCREF(on_miss);
    PyObject *payload = NULL; /* owned, given away */
    if (cache != NULL) {
        payload = marks.guards->cache_lookup(cache, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                                             frame->f_builtins, NULL);
        if (call != NULL) {
            call->asked = dispatch_in_vain(marks.guards, cache, payload) ? ASKED_IN_VAIN : ASKED_WELL;
        }
    }
    marks_count(payload != NULL);
    if (payload == NULL) {
        Asked asked;
        payload = marks_ask(on_miss, frame->f_code, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                            frame->f_builtins, &asked);
        if (call != NULL) {
            call->asked = asked;
        }
    }
    Py_XDECREF(cache);
    Py_DECREF(on_miss);
    return payload;
}

/* The code filter's answer for a code object, asked once per filter: a NEW reference. Reports exceptions of the
 * filter. */
static PyObject *
payload_of_filter(PyCodeObject *code)
{
    CodeExtra *extra = code_extra_ensure(code);
    PyObject *answer = NULL; /* owned, then the extra's */
    if (extra != NULL && extra->family.filter_serial != hook.filter_serial) {
        PyObject *filter = hook.filter; /* owned: the filter may be replaced meanwhile */
        Py_INCREF(filter);
        extra->family.filter_serial = hook.filter_serial;
        pause_begin();
        answer = PyObject_CallFunctionObjArgs(filter, (PyObject *)code, NULL);
        pause_end();
        Py_DECREF(filter);
        PyObject *old = extra->family.replacement; /* owned */
        extra->family.replacement = answer;
        Py_XDECREF(old);
    }
    if (PyErr_Occurred()) {
        error_report(code);
    }
    /* borrowed, then the result */
    PyObject *payload = extra != NULL && extra->family.replacement != NULL ? extra->family.replacement : Py_None;
    Py_INCREF(payload);
    return payload;
}

/* The payload for the frame of a Callee, as from payload_of_cache. Counts how often it is the original code. */
static PyObject *
payload_of_callee(Callee *callee, PyFrameObject *frame)
{
    PyObject *payload = payload_of_cache(callee->cache, callee->on_miss, frame, NULL); /* owned, given away */
    callee->idle = payload != NULL && timing_payload(payload) == Py_None ? callee->idle + 1 : 0;
    if (callee->idle == IDLE_LIMIT) {
        paused_tell(callee->on_idle, PyTuple_New(0), (PyObject *)frame->f_code);
    }
    return payload;
}

PyObject *
payload_find(PyFrameObject *frame, int take_marked, Callee *callee, HookCall *call, TimedRun *run)
{
    PyCodeObject *code = frame->f_code; /* borrowed from the frame */
    CodeExtra *extra = code_extra_get(code);
    PyObject *payload = NULL; /* owned */
    PyObject *cache = NULL;   /* owned */
    if (take_marked && extra != NULL && extra->on_miss != NULL) {
        cache = extra->cache;
        Py_XINCREF(cache);
        payload = payload_of_cache(cache, extra->on_miss, frame, call);
    }
    else if (callee != NULL) {
        cache = callee->cache;
        Py_XINCREF(cache);
        payload = payload_of_callee(callee, frame);
    }
    else if (hook.filter != NULL) {
        payload = payload_of_filter(code);
    }
    PyObject *linked = NULL; /* owned, given away */
    run->timing = NULL;
    if (payload != NULL) {
        timing_begin(run, payload);
        if (run->timing != NULL && run->side == RUN_KERNELS) {
            timing_repeat(marks.guards, cache, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                          frame->f_builtins);
        }
        linked = run->side != RUN_PLAIN ? (PyObject *)marks_accept(code, timing_payload(payload)) : NULL;
        Py_DECREF(payload);
    }
    Py_XDECREF(cache);
    return linked;
}
