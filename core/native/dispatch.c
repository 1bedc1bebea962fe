/* Calls of a JitFunction that need no frame hook: arguments are bound here, and the entry cache is asked at once.
 *
 *   an entry of one kernel from start to return (Frameless)  ->  guards, kernel, result: no frame at all
 *   another entry that serves                                ->  its linked code, in the only frame of the call
 *   an entry that says that nothing is worth it              ->  the function itself
 *   none                                                     ->  on_miss, and what it answers
 *
 * A Frameless kernel may leave where bytecode has to go on: then its linked code gets a frame after all, and begins
 * with what the kernel has left (hand_over.c). All that is unusual is left to CPython and the hook: star arguments,
 * arguments that are cells, arguments that do not fit, tracing, the end of the stack. */
#include "dispatch.h"
#include <structmember.h>

#define MOST_SLOTS 64
#define MOST_LIVE_INS 32

/* After so many calls in a row for which nothing was worth a kernel only each of as many asks. */
#define PATIENCE 64

/* Only plain functions: no generator (hook_mark_of), no star arguments. */
#define STAR_FLAGS (CO_VARARGS | CO_VARKEYWORDS)

typedef struct {
    PyObject_VAR_HEAD
    PyObject *code;              /* owned: the linked code */
    PyObject *launcher;          /* owned: what that code calls first */
    PyCodeObject *fits;          /* the code object that the linked code was found to fit; only its identity counts */
    Py_ssize_t slots[1];         /* where its arguments are in a frame */
} Frameless;

const LaunchAPI *launch_api;

/* ---- binding ------------------------------------------------------------------------------------------- */

static inline Py_ssize_t
positional_only(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x03080000
    return code->co_posonlyargcount;
#else
    return 0;
#endif
}

/* The slot of the parameter that a keyword names; -1 if there is none. */
static Py_ssize_t
keyword_slot(const PyCodeObject *code, PyObject *name)
{
    Py_ssize_t count = code->co_argcount + code->co_kwonlyargcount;
    for (Py_ssize_t i = positional_only(code); i < count; i++) {
        if (PyTuple_GET_ITEM(code->co_varnames, i) == name) {
            return i;
        }
    }
    for (Py_ssize_t i = positional_only(code); PyUnicode_CheckExact(name) && i < count; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(code->co_varnames, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static inline void
slot_fill(PyObject **slots, Py_ssize_t index, PyObject *value)
{
    Py_INCREF(value);
    slots[index] = value;
}

/* Give parameters without an argument their defaults; whether all have a value then. */
static int
defaults_bind(const PyFunctionObject *function, const PyCodeObject *code, PyObject **slots)
{
    PyObject *defaults = function->func_defaults, *keyword = function->func_kwdefaults;  /* borrowed */
    Py_ssize_t count = defaults != NULL ? PyTuple_GET_SIZE(defaults) : 0;
    for (Py_ssize_t i = 0; i < code->co_argcount + code->co_kwonlyargcount; i++) {
        if (slots[i] != NULL) {
            continue;
        }
        PyObject *value = NULL;  /* borrowed */
        if (i < code->co_argcount) {
            Py_ssize_t number = i - (code->co_argcount - count);
            value = number >= 0 && number < count ? PyTuple_GET_ITEM(defaults, number) : NULL;
        }
        else if (keyword != NULL && PyDict_CheckExact(keyword)) {
            value = PyDict_GetItem(keyword, PyTuple_GET_ITEM(code->co_varnames, i));
        }
        if (value == NULL) {
            return 0;
        }
        slot_fill(slots, i, value);
    }
    return 1;
}

/* Fill the slots of a call as a frame has them at its start, with references that are owned, or NULL; whether that was
 * possible. */
static int
arguments_bind(const PyFunctionObject *function, const PyCodeObject *code, const Arguments *arguments,
               PyObject **slots, Py_ssize_t nslots)
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
        Py_ssize_t slot = keyword_slot(code, arguments->names[i]);
        if (slot < 0 || slots[slot] != NULL) {
            return 0;
        }
        slot_fill(slots, slot, arguments->values[i]);
    }
    if (arguments->npositional < code->co_argcount + code->co_kwonlyargcount
            && !defaults_bind(function, code, slots)) {
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

/* As a frame has them, but for cells: whether a program of the cache holds for the arguments of a call. */
int
dispatch_accepted(const GuardsAPI *guards, PyObject *cache, PyFunctionObject *function, const Arguments *arguments)
{
    PyObject *slots[MOST_SLOTS];  /* items owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code;  /* owned: guards run no code, but ends of objects may */
    Py_ssize_t nslots = code->co_nlocals + PyTuple_GET_SIZE(code->co_freevars);
    if (nslots > MOST_SLOTS) {
        return 0;
    }
    Py_INCREF(code);
    PyObject *found = NULL;  /* owned */
    if (arguments_bind(function, code, arguments, slots, nslots)) {
        found = guards->cache_lookup(cache, slots, nslots, function->func_globals, NULL);
    }
    for (Py_ssize_t i = 0; i < nslots; i++) {
        Py_XDECREF(slots[i]);
    }
    Py_DECREF(code);
    Py_XDECREF(found);
    return found != NULL;
}

/* ---- running ------------------------------------------------------------------------------------------- */

/* Whether a call is one of the code object that the entry was made for. */
static inline int
frameless_fits(Frameless *self, const BoundCall *call)
{
    if (self->fits != call->code && hook_fits(call->code, (PyCodeObject *)self->code)) {
        Py_ssize_t last = -1;
        for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
            last = self->slots[i] > last ? self->slots[i] : last;
        }
        self->fits = last < call->nslots ? call->code : NULL;
    }
    return self->fits == call->code;
}

/* Whether the entry served the call; then *result is set as dispatch_call sets it. */
static int
frameless_run(Frameless *self, const BoundCall *call, PyObject **result)
{
    PyObject *live_ins[MOST_LIVE_INS];  /* borrowed */
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        live_ins[i] = call->slots[self->slots[i]];
    }
    HandOver over = {.launcher = self->launcher};
    Launched status = launch_api->launch(self->launcher, live_ins, Py_SIZE(self), call->function->func_globals,
                                         call->builtins, result);
    if (status != LAUNCH_LEFT) {
        return status == LAUNCH_RETURNED;
    }
    over.answer = *result;
    PyErr_Fetch(&over.type, &over.value, &over.traceback);
    *result = hook_run(call, (PyCodeObject *)self->code, launch_api, &over);
    return 1;
}

/* Whether an entry of one kernel served the call. */
static int
frameless_serve(const Mark *mark, const BoundCall *call, PyObject **result)
{
    PyObject *cache = mark->cache, *payload;  /* borrowed, and owned while it runs */
    for (Py_ssize_t i = 0; (payload = mark->guards->cache_payload(cache, i)) != NULL; i++) {
        PyObject *inner = trial_payload(payload);  /* borrowed from the payload */
        if (Py_TYPE(inner) != &Frameless_Type || trial_side(payload) == TRIAL_PLAIN
                || !frameless_fits((Frameless *)inner, call)) {
            continue;
        }
        TrialRun run;
        Py_INCREF(payload);
        trial_begin(&run, payload);
        int served = frameless_run((Frameless *)inner, call, result);
        trial_end(&run, served && *result != NULL);
        if (served) {
            mark->guards->cache_hit(cache, payload);
            hook_count(1);
        }
        Py_DECREF(payload);
        if (served) {
            return 1;
        }
    }
    return 0;
}

/* Note a call for which an entry says that nothing is worth a kernel; those of all entries must. */
static void
pace_slow(Pace *pace, const Mark *mark)
{
    PyObject *payload;  /* borrowed */
    for (Py_ssize_t i = 0; (payload = mark->guards->cache_payload(mark->cache, i)) != NULL; i++) {
        if (trial_payload(payload) != Py_None) {
            pace->in_vain = 0;
            return;
        }
    }
    if (++pace->in_vain >= PATIENCE) {
        pace->in_vain = pace->rest = PATIENCE - 1;
    }
}

/* What is to run for a call: a NEW reference, or NULL with the exception of on_miss set. */
static PyObject *
payload_of_call(const Mark *mark, Pace *pace, const BoundCall *call)
{
    PyObject *globals = call->function->func_globals;  /* borrowed */
    PyObject *payload = mark->guards->cache_lookup(mark->cache, call->slots, call->nslots, globals,
                                                   call->builtins);  /* owned */
    hook_count(payload != NULL);
    if (payload != NULL && trial_payload(payload) == Py_None) {
        pace_slow(pace, mark);
    }
    else {
        pace->in_vain = 0;
    }
    return payload != NULL ? payload
                           : hook_ask(mark->on_miss, call->code, call->slots, call->nslots, globals, call->builtins);
}

static Dispatched
call_serve(const Mark *mark, Pace *pace, const BoundCall *call, TrialRun *run, PyObject **result)
{
    if (frameless_serve(mark, call, result)) {
        return DISPATCH_DONE;
    }
    PyObject *payload = payload_of_call(mark, pace, call);  /* owned */
    if (payload == NULL) {
        *result = NULL;
        return DISPATCH_DONE;
    }
    trial_begin(run, payload);
    if (run->trial != NULL && run->side == TRIAL_KERNELS) {
        trial_repeat(mark->guards, mark->cache, call->slots, call->nslots, call->function->func_globals,
                     call->builtins);
    }
    PyCodeObject *linked = run->side != TRIAL_PLAIN ? hook_accept(call->code, trial_payload(payload)) : NULL;  /* owned */
    Py_DECREF(payload);
    if (linked == NULL) {
        return DISPATCH_PLAIN;
    }
    *result = hook_run(call, linked, NULL, NULL);
    Py_DECREF(linked);
    return DISPATCH_DONE;
}

Dispatched
dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, TrialRun *run, PyObject **result)
{
    PyObject *slots[MOST_SLOTS];  /* items owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code;  /* borrowed, owned once it is bound */
    PyThreadState *tstate = PyThreadState_Get();
    Mark mark;

    run->trial = NULL;
    if (pace->rest > 0) {
        pace->rest--;
        return DISPATCH_PLAIN;
    }
    if (!hook_mark_of(tstate, code, &mark)) {
        return DISPATCH_PLAIN;
    }
    Py_ssize_t nslots = code->co_nlocals + PyTuple_GET_SIZE(code->co_freevars);
    if (mark.cache == NULL || mark.held || (code->co_flags & STAR_FLAGS) || PyTuple_GET_SIZE(code->co_cellvars) > 0
            || nslots > MOST_SLOTS || tstate->recursion_depth >= Py_GetRecursionLimit()) {
        return DISPATCH_HOOKED;
    }
    BoundCall call = {function, code, function_builtins(tstate, function), slots, nslots};
    /* What runs may unmark the code, or give the function another. */
    Py_INCREF(code);
    Py_INCREF(mark.cache);
    Py_INCREF(mark.on_miss);
    Dispatched done = arguments_bind(function, code, arguments, slots, nslots) && call.builtins != NULL
                          ? call_serve(&mark, pace, &call, run, result) : DISPATCH_HOOKED;
    for (Py_ssize_t i = 0; i < nslots; i++) {
        Py_XDECREF(slots[i]);
    }
    Py_DECREF(mark.on_miss);
    Py_DECREF(mark.cache);
    Py_DECREF(code);
    return done;
}

/* ---- the type ------------------------------------------------------------------------------------------ */

PyObject *
payload_code(PyObject *payload)
{
    return Py_TYPE(payload) == &Frameless_Type ? ((Frameless *)payload)->code : payload;
}

static int
frameless_fill(Frameless *self, PyObject *slots)
{
    for (Py_ssize_t i = 0; i < Py_SIZE(self); i++) {
        self->slots[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i));
        if (self->slots[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (self->slots[i] < 0 || self->slots[i] >= MOST_SLOTS) {
            PyErr_Format(PyExc_ValueError, "slot %zd is out of range", self->slots[i]);
            return -1;
        }
    }
    return 0;
}

static PyObject *
frameless_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "launcher", "slots", NULL};
    PyObject *code, *launcher, *slots;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!:Frameless", names, &PyCode_Type, &code, &launcher,
                                     &PyTuple_Type, &slots)) {
        return NULL;
    }
    if (launch_api == NULL && (launch_api = launch_import_api()) == NULL) {
        return NULL;
    }
    if (!launch_api->is_launcher(launcher)) {
        return PyErr_Format(PyExc_TypeError, "launcher must be a Launcher, not %.200s", Py_TYPE(launcher)->tp_name);
    }
    if (PyTuple_GET_SIZE(slots) > MOST_LIVE_INS) {
        return PyErr_Format(PyExc_ValueError, "more than %d live-ins", MOST_LIVE_INS);
    }
    Frameless *self = (Frameless *)type->tp_alloc(type, PyTuple_GET_SIZE(slots));  /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(code);
    self->code = code;
    Py_INCREF(launcher);
    self->launcher = launcher;
    if (frameless_fill(self, slots) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
frameless_traverse(Frameless *self, visitproc visit, void *arg)
{
    Py_VISIT(self->code);
    Py_VISIT(self->launcher);
    return 0;
}

static void
frameless_dealloc(Frameless *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->code);
    Py_XDECREF(self->launcher);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef frameless_members[] = {
    {"code", T_OBJECT, offsetof(Frameless, code), READONLY, "The linked code."},
    {"launcher", T_OBJECT, offsetof(Frameless, launcher), READONLY, "The launcher that is called before any frame."},
    {NULL},
};

/* Like a tuple it refers to all from its construction on, so that it needs no tp_clear. */
PyTypeObject Frameless_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.Frameless",
    .tp_doc = "Frameless(code, launcher, slots)\n--\n\n"
              "What an entry cache holds for a function that one kernel computes.",
    .tp_basicsize = offsetof(Frameless, slots),
    .tp_itemsize = sizeof(Py_ssize_t),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = frameless_new,
    .tp_dealloc = (destructor)frameless_dealloc,
    .tp_traverse = (traverseproc)frameless_traverse,
    .tp_members = frameless_members,
};

int
frameless_type_ready(void)
{
    return PyType_Ready(&Frameless_Type);
}
