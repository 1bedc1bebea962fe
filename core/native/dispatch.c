/* Calls of a JitFunction that need no frame hook: arguments are bound here, and the entry cache is asked at once.
 *
 *   an entry that begins with a kernel              ->  the kernel; if it comes to a return there is no frame at all
 *   another entry that serves                       ->  its linked code, in the only frame of the call
 *   an entry that says that nothing is worth it     ->  the function itself
 *   none                                            ->  on_miss, and what it answers
 *
 * Where such a kernel leaves and bytecode has to go on, its linked code gets a frame after all, and begins behind
 * that exit, or with what the kernel has left to say (hand_over.c). The entry's guards fetch its inputs: they are asked
 * once. All that is unusual is left to CPython and the hook: star arguments, arguments that are cells, arguments that do
 * not fit, tracing, the end of the stack. */
#include "landings.h"
#include <structmember.h>

#define MOST_SLOTS 64
#define MOST_INPUTS 32

/* Only plain functions: no generator (hook_mark_of), no star arguments. */
#define STAR_FLAGS (CO_VARARGS | CO_VARKEYWORDS)

typedef struct {
    PyObject_HEAD
    PyObject *code;              /* owned: the linked code */
    PyObject *launcher;          /* owned: what that code calls first, before any frame; NULL: it begins in a frame */
    PyCodeObject *fits;          /* the code object that the linked code was found to fit; only its identity counts */
    Py_ssize_t nexits;
    Landing *landings;           /* owned: where the exits land that do */
    char *lands;                 /* owned: which do, see Left */
    PyFrameObject *spare;        /* owned: an empty frame of the linked code, or NULL */
} Entrance;

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

static void
fetched_release(Fetched *fetched)
{
    while (fetched->count > 0) {
        Py_DECREF(fetched->items[--fetched->count]);
    }
}

/* Whether a call is one of the code object that the entry was made for. */
static inline int
entrance_fits(Entrance *self, const BoundCall *call)
{
    if (self->fits != call->code && hook_fits(call->code, (PyCodeObject *)self->code)) {
        self->fits = call->code;
    }
    return self->fits == call->code;
}

/* Go on in a frame with a launcher's answer, which is taken over, or the exception that is set. */
static PyObject *
entrance_leave(Entrance *self, const BoundCall *call, PyObject *answer)
{
    HandOver over = {.launcher = self->launcher, .answer = answer};
    PyErr_Fetch(&over.type, &over.value, &over.traceback);
    return hook_enter(call, (PyCodeObject *)self->code, NULL, NULL, &over, &self->spare);
}

/* Whether the kernel in front served the call with what the guards have fetched, which is released before any code of
 * the program's runs; then *result is set as dispatch_call sets it. */
static int
entrance_launch(Entrance *self, const BoundCall *call, Fetched *fetched, PyObject **result)
{
    Left left;
    left.lands = self->lands;
    left.nexits = self->nexits;
    Launched status = launch_api->launch(self->launcher, fetched->items, fetched->count, call->function->func_globals,
                                         call->builtins, &left, result);
    fetched_release(fetched);
    if (status == LAUNCH_LEFT) {
        *result = entrance_leave(self, call, *result);
    }
    else if (status == LAUNCH_LANDED) {
        *result = hook_enter(call, (PyCodeObject *)self->code, &self->landings[left.exit], &left, NULL, &self->spare);
    }
    return status != LAUNCH_MISSED;
}

/* Serve a call that fits; *result is set as dispatch_call sets it. */
static void
entrance_run(Entrance *self, const BoundCall *call, Fetched *fetched, PyObject **result)
{
    if (self->launcher != NULL && fetched->count >= 0 && entrance_launch(self, call, fetched, result)) {
        return;
    }
    fetched_release(fetched);
    *result = hook_enter(call, (PyCodeObject *)self->code, NULL, NULL, NULL, &self->spare);
}

int
dispatch_in_vain(const GuardsAPI *guards, PyObject *cache, PyObject *payload)
{
    int in_vain = payload != NULL && trial_payload(payload) == Py_None;
    PyObject *other;  /* borrowed */
    for (Py_ssize_t i = 0; in_vain && (other = guards->cache_payload(cache, i)) != NULL; i++) {
        in_vain = trial_payload(other) == Py_None;
    }
    return in_vain;
}

/* What is to run for a call: a NEW reference, or NULL with the exception of on_miss set. */
static PyObject *
payload_of_call(const Mark *mark, Pace *pace, const BoundCall *call, Fetched *fetched)
{
    PyObject *globals = call->function->func_globals;  /* borrowed */
    PyObject *payload = mark->guards->cache_lookup(mark->cache, call->slots, call->nslots, globals,
                                                   call->builtins, fetched);  /* owned */
    hook_count(payload != NULL);
    if (payload != NULL) {
        pace_note(pace, dispatch_in_vain(mark->guards, mark->cache, payload) ? ASKED_IN_VAIN : ASKED_WELL);
        return payload;
    }
    Asked asked;
    payload = hook_ask(mark->on_miss, call->code, call->slots, call->nslots, globals, call->builtins, &asked);
    pace_note(pace, asked);
    return payload;
}

/* Run what a cache or on_miss has for a call; the payload is taken over. */
static Dispatched
payload_run(const Mark *mark, const BoundCall *call, PyObject *payload, Fetched *fetched, TrialRun *run,
            PyObject **result)
{
    trial_begin(run, payload);
    if (run->trial != NULL && run->side == TRIAL_KERNELS) {
        trial_repeat(mark->guards, mark->cache, call->slots, call->nslots, call->function->func_globals,
                     call->builtins);
    }
    PyObject *inner = run->side != TRIAL_PLAIN ? trial_payload(payload) : Py_None;  /* borrowed from the payload */
    if (Py_TYPE(inner) == &Entrance_Type && entrance_fits((Entrance *)inner, call)) {
        entrance_run((Entrance *)inner, call, fetched, result);
        Py_DECREF(payload);
        return DISPATCH_DONE;
    }
    fetched_release(fetched);
    PyCodeObject *linked = hook_accept(call->code, inner);  /* owned */
    Py_DECREF(payload);
    if (linked != NULL) {
        *result = hook_run(call, linked);
        Py_DECREF(linked);
    }
    return linked != NULL ? DISPATCH_DONE : DISPATCH_PLAIN;
}

static Dispatched
call_serve(const Mark *mark, Pace *pace, const BoundCall *call, TrialRun *run, PyObject **result)
{
    PyObject *items[MOST_INPUTS];  /* owned as far as they are counted */
    Fetched fetched = {items, MOST_INPUTS, -1};
    PyObject *payload = payload_of_call(mark, pace, call, &fetched);  /* owned, then the run's */
    if (payload == NULL) {
        *result = NULL;
        return DISPATCH_DONE;
    }
    return payload_run(mark, call, payload, &fetched, run, result);
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
    return Py_TYPE(payload) == &Entrance_Type ? ((Entrance *)payload)->code : payload;
}

static PyObject *
entrance_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "launcher", "landings", NULL};
    PyObject *code, *launcher, *landings;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!:Entrance", names, &PyCode_Type, &code, &launcher,
                                     &PyTuple_Type, &landings)) {
        return NULL;
    }
    if (launch_api == NULL && (launch_api = launch_import_api()) == NULL) {
        return NULL;
    }
    if (launcher != Py_None && !launch_api->is_launcher(launcher)) {
        return PyErr_Format(PyExc_TypeError, "launcher must be a Launcher or None, not %.200s",
                            Py_TYPE(launcher)->tp_name);
    }
    Entrance *self = (Entrance *)type->tp_alloc(type, 0);  /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(code);
    self->code = code;
    if (launcher != Py_None) {
        Py_INCREF(launcher);
        self->launcher = launcher;
    }
    self->nexits = PyTuple_GET_SIZE(landings);
    if (landings_read(landings, (PyCodeObject *)code, &self->landings, &self->lands) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
entrance_traverse(Entrance *self, visitproc visit, void *arg)
{
    Py_VISIT(self->code);
    Py_VISIT(self->launcher);
    return 0;
}

static void
entrance_dealloc(Entrance *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->code);
    Py_XDECREF(self->launcher);
    Py_XDECREF(self->spare);
    PyMem_Free(self->landings);
    PyMem_Free(self->lands);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef entrance_members[] = {
    {"code", T_OBJECT, offsetof(Entrance, code), READONLY, "The linked code."},
    {"launcher", T_OBJECT, offsetof(Entrance, launcher), READONLY, "The launcher that is called before any frame."},
    {NULL},
};

/* Like a tuple it refers to all from its construction on, so that it needs no tp_clear. */
PyTypeObject Entrance_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.Entrance",
    .tp_doc = "Entrance(code, launcher, landings)\n--\n\n"
              "What an entry cache holds for linked code: how calls get into it.",
    .tp_basicsize = sizeof(Entrance),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = entrance_new,
    .tp_dealloc = (destructor)entrance_dealloc,
    .tp_traverse = (traverseproc)entrance_traverse,
    .tp_members = entrance_members,
};

int
entrance_type_ready(void)
{
    return PyType_Ready(&Entrance_Type);
}
