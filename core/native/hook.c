/* The frame hook: decides for each Python frame, before it starts, which code runs in it (PEP 523).
 *
 * A code object may carry a CodeExtra, in one code-extra slot per process. `mark` fills it with an entry
 * cache and an `on_miss` callable. When the hook meets the frame of a marked code object it asks the cache
 * (in C, over the frame's locals, cells and free variables), on a miss on_miss, and runs the code object it
 * gets - the payload - in a *shadow frame*: a new frame that takes over the locals of the first, which is
 * never started. The first frame's caller frees it as if it had run. Tracebacks and sys._getframe see the
 * shadow frame alone.
 *
 *   throwflag, tracing or profiling, generators, a disabled thread  ->  the original code, always
 *   a fault of ours (bad payload, bad filter)                       ->  the original code, and a report
 *   an exception from on_miss                                       ->  the caller of the function gets it
 *
 * The hook is installed only while it is needed: the JitFunction calls whose frame has not started yet, a
 * call site of linked code that waits for its frame (call_site.h), hold() and a code filter each count as one
 * need. So code outside of that runs exactly as if there were no
 * hook. A hook that was there before is called for every frame that is not ours, and is restored with the
 * last need.
 *
 * All state is process wide and guarded by the GIL, but for `here`, which belongs to the thread. Only the
 * main interpreter is supported: the code-extra index belongs to it.
 *
 * A CodeExtra owns its cache and on_miss, and code objects are invisible to the garbage collector: neither
 * may keep the marked code alive, or it lives for ever. */
#include "dispatch.h"
#include "shadow.h"
#include <stddef.h>

/* How many levels of recursion are kept for on_miss. */
#define CAPTURE_DEPTH 400

#define GENERATOR_FLAGS (CO_GENERATOR | CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR)

static struct {
    Py_ssize_t needs;                    /* the hook is installed while positive */
    Py_ssize_t holds;                    /* the part of `needs` that stems from hold() */
    int linked;                          /* we were installed and have not been taken out again */
    Evaluator previous;                  /* what runs the frames that are not ours, valid while linked */
    Py_ssize_t extra_index;
    unsigned long long last_serial;
    const GuardsAPI *guards;             /* NULL until the first mark with a cache */
    PyObject *filter;                    /* owned; NULL: none */
    unsigned long long filter_serial;
    PyObject *error_handler;             /* owned; NULL: sys.unraisablehook */
    int plain;                           /* every thread runs everything as it is */
    Py_ssize_t frames, shadow_frames, hits, misses;
} hook;

static __thread struct {
    Py_ssize_t disabled;                 /* nesting depth of disable() */
    HookCall *calls;                     /* JitFunction calls whose frame was not seen yet, innermost first */
    PyObject *site;                      /* owned; the CallSite that waits for the next frame; NULL: none */
    PyFrameObject *caller;               /* never followed; the frame that called the last site */
} here;

/* Whether this thread runs everything as if nothing were marked. */
static int
thread_is_off(void)
{
    return here.disabled > 0 || hook.plain;
}

#include "code_extra.h"

/* ---- Installing ---------------------------------------------------------------------------------------- */

static void
hook_acquire(void)
{
    hook.needs++;
    Evaluator current = evaluator_get();
    if (current == evaluator_hook()) {
        return;
    }
    /* Another hook was put on top of ours and calls ours: going on top of it again would make a loop. */
    if (hook.linked && current != evaluator_default()) {
        return;
    }
    hook.previous = current;
    hook.linked = 1;
    evaluator_set(evaluator_hook());
}

static void
hook_drop(void)
{
    if (--hook.needs > 0 || evaluator_get() != evaluator_hook()) {
        return;
    }
    evaluator_set(hook.previous);
    hook.linked = 0;
}

/* ---- Marks ---------------------------------------------------------------------------------------------- */

/* Whether a cache or None and on_miss may belong to code; 0 with an exception set. */
static int
mark_is_valid(PyObject *cache, PyObject *on_miss)
{
    if (cache != Py_None) {
        if (hook.guards == NULL && (hook.guards = guards_import_api()) == NULL) {
            return 0;
        }
        if (!hook.guards->is_cache(cache)) {
            PyErr_Format(PyExc_TypeError, "cache must be an EntryCache or None, not %.200s",
                         Py_TYPE(cache)->tp_name);
            return 0;
        }
    }
    if (!PyCallable_Check(on_miss)) {
        PyErr_Format(PyExc_TypeError, "on_miss must be callable, not %.200s", Py_TYPE(on_miss)->tp_name);
        return 0;
    }
    return 1;
}

/* ---- Faults of ours ------------------------------------------------------------------------------------ */

/* Hand the current exception to the error handler and clear it. */
static void
error_report(PyCodeObject *code)
{
    if (hook.error_handler == NULL) {
        PyErr_WriteUnraisable((PyObject *)code);
        return;
    }
    PyObject *type, *value, *traceback;  /* owned */
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *handler = hook.error_handler;  /* owned: the handler may replace itself */
    Py_INCREF(handler);
    here.disabled++;
    PyObject *result = PyObject_CallFunctionObjArgs(handler, (PyObject *)code, value, NULL);  /* owned */
    here.disabled--;
    if (result == NULL) {
        PyErr_WriteUnraisable(handler);
    }
    Py_XDECREF(result);
    Py_DECREF(handler);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

void
hook_tell(PyObject *callable, PyObject *args, PyObject *code)
{
    here.disabled++;
    PyObject *done = args != NULL ? PyObject_Call(callable, args, NULL) : NULL;  /* owned */
    here.disabled--;
    if (done == NULL) {
        error_report((PyCodeObject *)code);
    }
    Py_XDECREF(done);
    Py_XDECREF(args);
}

#include "call_site.h"

/* ---- Choosing what runs -------------------------------------------------------------------------------- */

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
 * RecursionError that is caught there lets the next one abort the process. */
PyObject *
hook_ask(PyObject *on_miss, PyCodeObject *code, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
         PyObject *builtins)
{
    if (PyThreadState_Get()->recursion_depth > Py_GetRecursionLimit() - CAPTURE_DEPTH) {
        Py_RETURN_NONE;
    }
    PyObject *list = slots_list(slots, nslots);  /* owned */
    if (list == NULL) {
        return NULL;
    }
    here.disabled++;
    PyObject *answer = PyObject_CallFunctionObjArgs(on_miss, (PyObject *)code, list, globals, builtins,
                                                    NULL);  /* owned */
    here.disabled--;
    Py_DECREF(list);
    /* There was no room to compile after all, but there may be for the function itself. */
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        answer = Py_None;
        Py_INCREF(answer);
    }
    return answer;
}

/* What a cache, which may be NULL, or on_miss has for a frame: a NEW reference, or NULL with the exception of on_miss
 * set. Takes references of its own: `unmark` may come meanwhile. */
static PyObject *
payload_of_cache(PyObject *cache, PyObject *on_miss, PyFrameObject *frame)
{
    Py_XINCREF(cache);
    Py_INCREF(on_miss);
    PyObject *payload = NULL;  /* owned, given away */
    if (cache != NULL) {
        payload = hook.guards->cache_lookup(cache, frame->f_localsplus, frame_slot_count(frame),
                                            frame->f_globals, frame->f_builtins);
    }
    hook_count(payload != NULL);
    if (payload == NULL) {
        payload = hook_ask(on_miss, frame->f_code, frame->f_localsplus, frame_slot_count(frame), frame->f_globals,
                           frame->f_builtins);
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
        here.disabled++;
        answer = PyObject_CallFunctionObjArgs(filter, (PyObject *)code, NULL);
        here.disabled--;
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
    PyObject *payload = payload_of_cache(callee->cache, callee->on_miss, frame);  /* owned, given away */
    callee->idle = payload != NULL && trial_payload(payload) == Py_None ? callee->idle + 1 : 0;
    if (callee->idle == IDLE_LIMIT) {
        hook_tell(callee->on_idle, PyTuple_New(0), (PyObject *)frame->f_code);
    }
    return payload;
}

/* What is to run for a frame: a NEW reference to a code object that fits; NULL without an exception for the
 * original; NULL with one that the function's caller is to get. `callee`: what linked code calls, or NULL. `run` is
 * filled. */
static PyObject *
payload_find(PyFrameObject *frame, int take_marked, Callee *callee, TrialRun *run)
{
    PyCodeObject *code = frame->f_code;  /* borrowed from the frame */
    CodeExtra *extra = code_extra_get(code);
    PyObject *payload = NULL;  /* owned */
    PyObject *cache = NULL;  /* owned */
    if (take_marked && extra != NULL && extra->on_miss != NULL) {
        cache = extra->cache;
        Py_XINCREF(cache);
        payload = payload_of_cache(cache, extra->on_miss, frame);
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

PyObject *
hook_evaluate(PyThreadState *tstate, PyFrameObject *frame, int throwflag)
{
    hook.frames++;
    Evaluator previous = hook.previous;
    int expected = !throwflag && here.calls != NULL && here.calls->code == frame->f_code;
    Callee *callee = NULL;  /* owned */
    if (throwflag) {
        site_forget();  /* a generator goes on with an exception, in which nothing can be asked */
    }
    else {
        callee = site_take(frame);
    }
    if (expected) {
        /* From here on the hook is not needed for this call: what the frame calls runs without it. */
        hook_call_end(here.calls);
    }
    int take_marked = expected || hook.holds > 0;
    if (throwflag || thread_is_off() || !(take_marked || callee != NULL || hook.filter != NULL)
        || thread_is_traced(tstate) || (frame->f_code->co_flags & GENERATOR_FLAGS)) {
        Py_XDECREF(callee);
        return evaluator_call(previous, tstate, frame, throwflag);
    }
    TrialRun run;
    PyObject *payload = payload_find(frame, take_marked, callee, &run);  /* owned */
    PyObject *result = NULL;  /* owned, given away */
    Py_XDECREF(callee);
    if (payload != NULL) {
        hook.shadow_frames++;
        result = shadow_evaluate(tstate, frame, (PyCodeObject *)payload);
        Py_DECREF(payload);
    }
    else if (!PyErr_Occurred()) {
        result = evaluator_call(previous, tstate, frame, 0);
    }
    trial_end(&run, result != NULL);
    return result;
}

/* ---- For JitFunction ----------------------------------------------------------------------------------- */

int
hook_mark_of(PyCodeObject *code, Mark *mark)
{
    if (thread_is_off() || (code->co_flags & GENERATOR_FLAGS) || thread_is_traced(PyThreadState_Get())) {
        return 0;
    }
    CodeExtra *extra = code_extra_get(code);
    if (extra == NULL || extra->on_miss == NULL) {
        return 0;
    }
    mark->guards = hook.guards;
    mark->cache = extra->cache;
    mark->on_miss = extra->on_miss;
    mark->held = hook.holds > 0 || hook.filter != NULL;
    return 1;
}

void
hook_count(int hit)
{
    hook.hits += hit;
    hook.misses += !hit;
}

PyObject *
hook_run(const BoundCall *call, PyCodeObject *linked, const LaunchAPI *launch, HandOver *over)
{
    PyThreadState *tstate = PyThreadState_Get();
    /* owned, then the run's */
    PyFrameObject *shadow = shadow_new(tstate, linked, call->function->func_globals, NULL, call->builtins);
    if (shadow == NULL) {
        return NULL;
    }
    hook.shadow_frames++;
    shadow_take(shadow, call->slots, call->code->co_nlocals, call->code);
    if (over != NULL) {
        launch->hand_over(over, shadow);
    }
    PyObject *result = shadow_run(tstate, shadow, call->code);  /* owned, given away */
    if (over != NULL) {
        launch->hand_over_end(over);
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
    /* A call whose frame was seen has left the list. Calls end in order, so this one is its head or not in
     * it. */
    if (here.calls == call) {
        here.calls = call->outer;
        hook_drop();
    }
    site_forget();
}

#include "mover.h"
#include "rest.h"

/* The module that Python sees; it works on the state above. */
#include "hook_module.h"
