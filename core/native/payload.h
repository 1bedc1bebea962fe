/* Choosing what runs in place of a frame's code, for hook.c alone: the payload that a cache, on_miss or the code filter
 * has for it. */
#ifndef PIJIT_CORE_PAYLOAD_H
#define PIJIT_CORE_PAYLOAD_H

static PyTypeObject Unbound_Type;
static PyObject unbound = {.ob_refcnt = 1, .ob_type = &Unbound_Type};

static Py_ssize_t
frame_slot_count(PyFrameObject *frame)
{
    PyCodeObject *code = frame->f_code;
    return code->co_nlocals + PyTuple_GET_SIZE(code->co_cellvars) + PyTuple_GET_SIZE(code->co_freevars);
}

/* A NEW list of a frame's locals, cells and free variables, UNBOUND for those without a value. */
static PyObject *
slots_list(PyObject *const *slots, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);  /* owned, given away */
    if (list == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = slots[i] != NULL ? slots[i] : &unbound;  /* borrowed */
        Py_INCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

/* Close to the recursion limit on_miss is not asked: there is no room to compile, and up to CPython 3.8 a
 * RecursionError that is caught there lets the next one abort the process. An answer of Ellipsis says that another
 * thread captures: the call runs as it is, and that tells nothing of the function. */
PyObject *
hook_ask(PyObject *on_miss, PyCodeObject *code, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
         PyObject *builtins, Asked *asked)
{
    *asked = ASKED_FOR_NOTHING;
    if (PyThreadState_Get()->recursion_depth > Py_GetRecursionLimit() - CAPTURE_DEPTH) {
        Py_RETURN_NONE;
    }
    PyObject *list = slots_list(slots, nslots);  /* owned */
    if (list == NULL) {
        return NULL;
    }
    pause_begin();
    PyObject *answer = PyObject_CallFunctionObjArgs(on_miss, (PyObject *)code, list, globals, builtins,
                                                    NULL);  /* owned */
    pause_end();
    Py_DECREF(list);
    /* There was no room to compile after all, but there may be for the function itself. */
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        answer = Py_None;
        Py_INCREF(answer);
    }
    else if (answer == Py_Ellipsis) {
        *asked = ASKED_WELL;
        Py_DECREF(answer);
        Py_RETURN_NONE;
    }
    else if (answer != Py_None) {
        *asked = ASKED_WELL;
    }
    return answer;
}

/* What a cache, which may be NULL, or on_miss has for a frame: a NEW reference, or NULL with the exception of on_miss
 * set. Takes references of its own: `unmark` may come meanwhile. `call` is the frame's, or NULL. */
static PyObject *
payload_of_cache(PyObject *cache, PyObject *on_miss, PyFrameObject *frame, HookCall *call)
{
    Py_XINCREF(cache);
    Py_INCREF(on_miss);
    PyObject *payload = NULL;  /* owned, given away */
    if (cache != NULL) {
        payload = hook.guards->cache_lookup(cache, frame->f_localsplus, frame_slot_count(frame),
                                            frame->f_globals, frame->f_builtins, NULL);
        if (call != NULL) {
            call->asked = dispatch_in_vain(hook.guards, cache, payload) ? ASKED_IN_VAIN : ASKED_WELL;
        }
    }
    hook_count(payload != NULL);
    if (payload == NULL) {
        Asked asked;
        payload = hook_ask(on_miss, frame->f_code, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                           frame->f_builtins, &asked);
        if (call != NULL) {
            call->asked = asked;
        }
    }
    Py_XDECREF(cache);
    Py_DECREF(on_miss);
    return payload;
}

/* What the code filter has for a code object, asked once per filter: a NEW reference. Reports the filter's
 * exceptions. */
static PyObject *
payload_of_filter(PyCodeObject *code)
{
    CodeExtra *extra = code_extra_ensure(code);
    PyObject *answer = NULL;  /* owned, then the extra's */
    if (extra != NULL && extra->filter_serial != hook.filter_serial) {
        PyObject *filter = hook.filter;  /* owned: the filter may be replaced meanwhile */
        Py_INCREF(filter);
        extra->filter_serial = hook.filter_serial;
        pause_begin();
        answer = PyObject_CallFunctionObjArgs(filter, (PyObject *)code, NULL);
        pause_end();
        Py_DECREF(filter);
        PyObject *old = extra->replacement;
        extra->replacement = answer;
        Py_XDECREF(old);
    }
    if (PyErr_Occurred()) {
        error_report(code);
    }
    PyObject *payload = extra != NULL && extra->replacement != NULL ? extra->replacement : Py_None;
    Py_INCREF(payload);
    return payload;
}

/* Whether a payload may run in place of a code object. A refusal is reported, once per pair met in a row. */
int
hook_fits(PyCodeObject *code, PyCodeObject *payload)
{
    CodeExtra *own = code_extra_ensure(code), *extra = code_extra_ensure(payload);
    if (own == NULL || extra == NULL) {
        error_report(code);
        return 0;
    }
    if (extra->partner_serial == own->serial) {
        return extra->partner_fits;
    }
    const char *why_not = code_why_not_linked(code, payload);
    extra->partner_serial = own->serial;
    extra->partner_fits = why_not == NULL;
    if (why_not != NULL) {
        PyErr_Format(PyExc_ValueError, "the code object to run in place of %U was refused: %s",
                     code->co_name, why_not);
        error_report(code);
    }
    return why_not == NULL;
}

PyCodeObject *
hook_accept(PyCodeObject *code, PyObject *payload)
{
    PyObject *linked = payload_code(payload);  /* borrowed, then the result */
    if (linked != Py_None && !PyCode_Check(linked)) {
        PyErr_Format(PyExc_TypeError, "a code object or None is to run in place of %U, not %.200s",
                     code->co_name, Py_TYPE(linked)->tp_name);
        error_report(code);
    }
    else if (linked != Py_None && linked != (PyObject *)code && hook_fits(code, (PyCodeObject *)linked)) {
        Py_INCREF(linked);
        return (PyCodeObject *)linked;
    }
    return NULL;
}

/* What is to run for the frame of a Callee, as payload_of_cache says; counts how often that is the original. */
static PyObject *
payload_of_callee(Callee *callee, PyFrameObject *frame)
{
    PyObject *payload = payload_of_cache(callee->cache, callee->on_miss, frame, NULL);  /* owned, given away */
    callee->idle = payload != NULL && trial_payload(payload) == Py_None ? callee->idle + 1 : 0;
    if (callee->idle == IDLE_LIMIT) {
        hook_tell(callee->on_idle, PyTuple_New(0), (PyObject *)frame->f_code);
    }
    return payload;
}

/* What is to run for a frame: a NEW reference to a code object that fits; NULL without an exception for the
 * original; NULL with one that the function's caller is to get. `callee`: what linked code calls, or NULL; `call`: the
 * frame's, or NULL. `run` is filled. */
static PyObject *
payload_find(PyFrameObject *frame, int take_marked, Callee *callee, HookCall *call, TrialRun *run)
{
    PyCodeObject *code = frame->f_code;  /* borrowed from the frame */
    CodeExtra *extra = code_extra_get(code);
    PyObject *payload = NULL;  /* owned */
    PyObject *cache = NULL;  /* owned */
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
    PyObject *linked = NULL;  /* owned, given away */
    run->trial = NULL;
    if (payload != NULL) {
        trial_begin(run, payload);
        if (run->trial != NULL && run->side == TRIAL_KERNELS) {
            trial_repeat(hook.guards, cache, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                         frame->f_builtins);
        }
        linked = run->side != TRIAL_PLAIN ? (PyObject *)hook_accept(code, trial_payload(payload)) : NULL;
        Py_DECREF(payload);
    }
    Py_XDECREF(cache);
    return linked;
}

#endif
