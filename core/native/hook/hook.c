/* The frame hook (PEP 523): selects the code that runs in each Python frame, before the frame starts.
 *
 * A code object may carry a CodeExtra, in one code-extra slot per process. `mark` fills it with an entry cache and an
 * `on_miss` callable. When the hook meets the frame of a marked code object, it asks the cache, in C, over the
 * frame's locals, cells and free variables. On a miss it calls on_miss. The code object that it gets - the payload -
 * runs in a *shadow frame*: a new frame that takes over the locals of the first frame, which never starts. The first
 * frame's caller frees it as if it had run. Tracebacks and sys._getframe see only the shadow frame.
 *
 *   throwflag, tracing or profiling, generators, a disabled thread  ->  the original code, always
 *   an internal error (bad payload, bad filter)                     ->  the original code, and a report
 *   an exception from on_miss                                       ->  raised in the caller of the function
 *
 * The hook is installed only while it is needed. Each of these counts as one need: a JitFunction call whose frame has
 * not started yet, a call site of linked code that waits for its frame (call_site.h), hold(), and a code filter. All
 * other code runs exactly as if there were no hook. A hook that was installed before is called for all frames that
 * are not handled here, and is restored with the last need.
 *
 * All state belongs to the process and is guarded by the GIL, except `here`, which belongs to the thread. Marks and
 * entries are the same from CPython 3.11 on (code_marks.h). */
#include "function/callees.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/marks_inl.h"
#include "hook/call_site.h"
#include "hook/family_extra.h"
#include "hook/hooked.h"
#include "hook/install.h"
#include "hook/select_code.h"
#include "hook/shadow_frame.h"
#include "launcher/launch_api.h"
#include <stddef.h>

PyObject *
hook_evaluate(PyThreadState *tstate, PyFrameObject *frame, int throwflag)
{
    hook.frames++;
    Evaluator previous = hook.previous;
    int expected = !throwflag && here.calls != NULL && here.calls->code == frame->f_code;
    Callee *callee = NULL; /* owned */
    if (throwflag) {
        site_forget(); /* a generator resumes with an exception, while no cache can be asked */
    }
    else {
        callee = site_take(frame);
    }
    HookCall *call = expected ? here.calls : NULL;
    if (expected) {
        /* The call needs the hook no longer: calls from the frame run without it. */
        hook_call_end(here.calls);
    }
    int take_marked = expected || hook.holds > 0;
    if (throwflag || thread_is_off() || !(take_marked || callee != NULL || hook.filter != NULL) || thread_is_traced(tstate)
        || (frame->f_code->co_flags & GENERATOR_FLAGS)) {
        Py_XDECREF(callee);
        return evaluator_call(previous, tstate, frame, throwflag);
    }
    TimedRun run;
    PyObject *payload = payload_find(frame, take_marked, callee, call, &run); /* owned */
    PyObject *result = NULL;                                                  /* owned, given away */
    Py_XDECREF(callee);
    if (payload != NULL) {
        marks.shadow_frames++;
        result = shadow_evaluate(tstate, frame, (PyCodeObject *)payload);
        Py_DECREF(payload);
    }
    else if (!PyErr_Occurred()) {
        result = evaluator_call(previous, tstate, frame, 0);
    }
    timing_end(&run, result != NULL);
    return result;
}

/* ---- For JitFunction ----------------------------------------------------------------------------------- */

int
hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, int *held)
{
    if (thread_is_off() || (code->co_flags & GENERATOR_FLAGS) || thread_is_traced(tstate)) {
        return 0;
    }
    CodeExtra *extra = code_extra_get(code);
    if (extra == NULL || extra->on_miss == NULL) {
        return 0;
    }
    mark->guards = marks.guards;
    mark->cache = extra->cache;
    mark->on_miss = extra->on_miss;
    *held = hook.holds > 0 || hook.filter != NULL;
    return 1;
}

/* The frame of a call, to which its slots are moved: owned, or NULL with an exception set. */
static PyFrameObject *
call_frame(PyThreadState *tstate, const BoundCall *call, PyCodeObject *linked, PyFrameObject **pooled)
{
    PyFrameObject *shadow = pooled != NULL ? *pooled : NULL; /* owned, given away */
    if (shadow != NULL) {
        *pooled = NULL;
        shadow_again(tstate, shadow, call->function->func_globals, call->builtins);
    }
    else {
        shadow = shadow_new(tstate, linked, call->function->func_globals, NULL, call->builtins);
    }
    if (shadow != NULL) {
        marks.shadow_frames++;
        shadow_take(shadow, call->slots, call->code->co_nlocals, call->code);
    }
    return shadow;
}

PyObject *
hook_run(const BoundCall *call, PyCodeObject *linked)
{
    PyThreadState *tstate = PyThreadState_Get();
    PyFrameObject *shadow = call_frame(tstate, call, linked, NULL); /* owned, then the run's */
    if (shadow == NULL) {
        return NULL;
    }
    PyObject *result = shadow_run(tstate, shadow, call->code); /* owned, given away */
    site_forget();
    return result;
}

/* Let a frame that has not started begin at a landing, to which the kernel's values are moved. */
static void
frame_land(PyFrameObject *frame, const Landing *landing, Left *left)
{
    for (Py_ssize_t i = 0; i < landing->nslots; i++) {
        if (landing->slots[i] < 0) {
            Py_DECREF(left->values[i]);
            continue;
        }
        /* An argument that is replaced here stays alive: the caller has a reference. */
        Py_XSETREF(frame->f_localsplus[landing->slots[i]], left->values[i]);
    }
    frame_begin_after(frame, landing->last, left->values + landing->nslots, landing->stack);
}

PyObject *
hook_enter(const BoundCall *call, PyCodeObject *linked, const Landing *landing, Left *left, HandOver *over,
           PyFrameObject **pooled)
{
    PyThreadState *tstate = PyThreadState_Get();
    PyFrameObject *shadow = call_frame(tstate, call, linked, pooled); /* owned, then the run's */
    PyObject *result = NULL;                                          /* owned, given away */
    if (shadow == NULL) {
        while (landing != NULL && left->count > 0) {
            Py_DECREF(left->values[--left->count]);
        }
        if (over != NULL) {
            over->taken = 1;
            launch_api->hand_over_end(over);
        }
        return NULL;
    }
    if (landing != NULL) {
        frame_land(shadow, landing, left);
    }
    if (over != NULL) {
        launch_api->hand_over(over, shadow);
    }
    /* the result is never a Move: such code has no OSR checks */
    result = evaluator_call(evaluator_default(), tstate, shadow, 0);
    if (Py_REFCNT(shadow) == 1) {
        shadow_rest(tstate, shadow, pooled);
    }
    else {
        shadow_free(tstate, shadow);
    }
    if (over != NULL) {
        launch_api->hand_over_end(over);
    }
    site_forget();
    return result;
}

void
hook_call_begin(HookCall *call, PyCodeObject *code)
{
    call->code = code;
    call->outer = here.calls;
    here.calls = call;
    hook_acquire();
}

void
hook_call_end(HookCall *call)
{
    /* A call whose frame was seen has left the list. Calls end in order, so this one is the first of the list or not in
     * it. */
    if (here.calls == call) {
        here.calls = call->outer;
        hook_drop();
    }
    site_forget();
}

void
family_extra_clear(FamilyExtra *extra)
{
    Py_XDECREF(extra->replacement);
}
