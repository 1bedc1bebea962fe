/* Dispatch of JitFunction calls without the frame hook: arguments are bound here, and the entry cache is asked at once.
 *
 *   an entry that begins with a kernel              ->  the kernel; no frame at all if it reaches a return
 *   any other entry whose guards hold               ->  its linked code, in the only frame of the call
 *   an entry that says that compiling does not pay  ->  the function itself
 *   none                                            ->  on_miss, and the payload that it returns
 *
 * If such a kernel leaves and bytecode has to go on, its linked code gets a frame after all. That frame begins after
 * the exit, or with the answer that the kernel has left (hand_over.c). The entry's guards fetch the kernel's inputs,
 * so the sources are read once. All unusual calls are left to CPython and the hook: star arguments, arguments that
 * are cells, arguments that do not fit, tracing, the end of the stack. */
#include "evaluate.h"
#include "function/bind_arguments_inl.h"
#include "function/dispatch.h"
#include "function/entrance.h"
#include "function/entrance_inl.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/serve_inl.h"
#include "hook/hooked.h"
#include "launcher/launch_api.h"

/* Flags of functions that are not served here: star arguments. hook_mark_of excludes generators. */
#define STAR_FLAGS (CO_VARARGS | CO_VARKEYWORDS)

/* ---- binding ------------------------------------------------------------------------------------------- */

/* Fill the slots of a call with owned references or NULL, as a frame has them at its start. 1; 0 if the arguments do
 * not fit. */
static int
arguments_bind(const PyFunctionObject *function, const PyCodeObject *code, const Arguments *arguments, PyObject **slots,
               Py_ssize_t nslots)
{
    Py_ssize_t given = arguments->npositional <= code->co_argcount ? arguments->npositional : 0;
    for (Py_ssize_t i = 0; i < given; i++) {
        slot_fill(slots, i, arguments->positional[i]);
    }
    if (given < nslots) {
        memset(slots + given, 0, (nslots - given) * sizeof(PyObject *));
    }
    if (given < arguments->npositional) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < arguments->nkeywords; i++) {
        Py_ssize_t slot = keyword_slot(code, code->co_varnames, arguments->names[i]);
        if (slot < 0 || slots[slot] != NULL) {
            return 0;
        }
        slot_fill(slots, slot, arguments->values[i]);
    }
    if (arguments->npositional < code->co_argcount + code->co_kwonlyargcount
        && !defaults_bind(function, code, code->co_varnames, slots)) {
        return 0;
    }
    Py_ssize_t nfree = PyTuple_GET_SIZE(code->co_freevars);
    if (nfree > 0 && (function->func_closure == NULL || PyTuple_GET_SIZE(function->func_closure) != nfree)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < nfree; i++) {
        slot_fill(slots, code->co_nlocals + i, PyTuple_GET_ITEM(function->func_closure, i));
    }
    return 1;
}

/* Whether a program of the cache holds for the arguments of a call. The slots are as in a frame, without cells. */
int
dispatch_accepted(const GuardsAPI *guards, PyObject *cache, PyFunctionObject *function, const Arguments *arguments)
{
    PyObject *slots[MOST_SLOTS];                              /* items owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* owned: guards run no code, but finalizers may */
    Py_ssize_t nslots = code->co_nlocals + PyTuple_GET_SIZE(code->co_freevars);
    if (nslots > MOST_SLOTS) {
        return 0;
    }
    Py_INCREF(code);
    PyObject *found = NULL; /* owned */
    if (arguments_bind(function, code, arguments, slots, nslots)) {
        found = guards->cache_lookup(cache, slots, nslots, function->func_globals, NULL, NULL);
    }
    for (Py_ssize_t i = 0; i < nslots; i++) {
        Py_XDECREF(slots[i]);
    }
    Py_DECREF(code);
    Py_XDECREF(found);
    return found != NULL;
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* Resume in a frame, with a launcher's answer, which is taken over, or with the exception that is set. */
static PyObject *
entrance_leave(Entrance *self, const BoundCall *call, PyObject *answer)
{
    HandOver over = {.launcher = self->launcher, .answer = answer};
    PyErr_Fetch(&over.type, &over.value, &over.traceback);
    return hook_enter(call, (PyCodeObject *)self->code, NULL, NULL, &over, &self->entry_paths.pooled);
}

/* Run the entry's kernel on the inputs that the guards have fetched. They are released before any code of the program
 * runs. Whether the kernel served the call; then *result is set as by dispatch_call. */
static int
entrance_launch(Entrance *self, const BoundCall *call, Fetched *fetched, PyObject **result)
{
    Left left;
    left.lands = self->entry_paths.lands;
    left.nexits = self->entry_paths.nexits;
    Launched status = launch_api->launch(self->launcher, fetched->items, fetched->count, call->function->func_globals,
                                         call->builtins, &left, result);
    fetched_release(fetched);
    if (status == LAUNCH_LEFT) {
        *result = entrance_leave(self, call, *result);
    }
    else if (status == LAUNCH_LANDED) {
        *result = hook_enter(call, (PyCodeObject *)self->code, &self->entry_paths.landings[left.exit], &left, NULL,
                             &self->entry_paths.pooled);
    }
    return status != LAUNCH_MISSED;
}

/* Serve a call that fits the entrance; *result is set as by dispatch_call. */
static void
entrance_run(Entrance *self, const BoundCall *call, Fetched *fetched, PyObject **result)
{
    if (self->launcher != NULL && fetched->count >= 0 && entrance_launch(self, call, fetched, result)) {
        return;
    }
    fetched_release(fetched);
    *result = hook_enter(call, (PyCodeObject *)self->code, NULL, NULL, NULL, &self->entry_paths.pooled);
}

/* Run the payload of a call, which a cache or on_miss gave; it is taken over. */
static Dispatched
payload_run(const Mark *mark, const BoundCall *call, PyObject *payload, Fetched *fetched, TimedRun *run, PyObject **result)
{
    timing_begin(run, payload);
    if (run->timing != NULL && run->side == RUN_KERNELS) {
        timing_repeat(mark->guards, mark->cache, call->slots, call->nslots, call->function->func_globals, call->builtins);
    }
    PyObject *inner = run->side != RUN_PLAIN ? timing_payload(payload) : Py_None; /* borrowed from the payload */
    if (Py_TYPE(inner) == &Entrance_Type && entrance_fits((Entrance *)inner, call)) {
        entrance_run((Entrance *)inner, call, fetched, result);
        Py_DECREF(payload);
        return DISPATCH_DONE;
    }
    fetched_release(fetched);
    PyCodeObject *linked = marks_accept(call->code, inner); /* owned */
    Py_DECREF(payload);
    if (linked != NULL) {
        *result = hook_run(call, linked);
        Py_DECREF(linked);
    }
    return linked != NULL ? DISPATCH_DONE : DISPATCH_PLAIN;
}

static Dispatched
call_serve(const Mark *mark, Pace *pace, const BoundCall *call, TimedRun *run, PyObject **result)
{
    PyObject *items[MOST_INPUTS]; /* owned as far as they are counted */
    Fetched fetched = {items, MOST_INPUTS, -1};
    PyObject *payload = payload_of_call(mark, pace, call, &fetched); /* owned, then the run's */
    if (payload == NULL) {
        *result = NULL;
        return DISPATCH_DONE;
    }
    return payload_run(mark, call, payload, &fetched, run, result);
}

Dispatched
dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, TimedRun *run, PyObject **result)
{
    PyObject *slots[MOST_SLOTS];                              /* items owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* borrowed, owned once it is bound */
    PyThreadState *tstate = PyThreadState_Get();
    Mark mark;
    int held;

    run->timing = NULL;
    if (pace->rest > 0) {
        pace->rest--;
        return DISPATCH_PLAIN;
    }
    if (!hook_mark_of(tstate, code, &mark, &held)) {
        return DISPATCH_PLAIN;
    }
    Py_ssize_t nslots = code->co_nlocals + PyTuple_GET_SIZE(code->co_freevars);
    if (mark.cache == NULL || held || (code->co_flags & STAR_FLAGS) || PyTuple_GET_SIZE(code->co_cellvars) > 0
        || nslots > MOST_SLOTS || tstate->recursion_depth >= Py_GetRecursionLimit()) {
        return DISPATCH_HOOKED;
    }
    BoundCall call = {function, code, function_builtins(tstate, function), slots, nslots};
    /* The code that runs may unmark the code object, or give the function another one. */
    Py_INCREF(code);
    Py_INCREF(mark.cache);
    Py_INCREF(mark.on_miss);
    Dispatched done = arguments_bind(function, code, arguments, slots, nslots) && call.builtins != NULL
                          ? call_serve(&mark, pace, &call, run, result)
                          : DISPATCH_HOOKED;
    for (Py_ssize_t i = 0; i < nslots; i++) {
        Py_XDECREF(slots[i]);
    }
    Py_DECREF(mark.on_miss);
    Py_DECREF(mark.cache);
    Py_DECREF(code);
    return done;
}
