/* Dispatch of JitFunction calls from CPython 3.11 on: arguments are bound for the guards, and the entry cache is asked.
 *
 *   an entry that begins with a kernel              ->  the kernel; no function at all if it reaches a return
 *   any other entry whose guards hold               ->  a hidden function with its linked code
 *   an entry that says that compiling does not pay  ->  the function itself
 *   none                                            ->  on_miss, and the payload that it returns
 *
 * CPython binds the arguments of the hidden function again; the values bound for the guards are released before. So no
 * kernel runs first if it would see objects that binding makes: a tuple or a dict of arguments, and cells. */
#include "evaluate.h"
#include "function/bind_arguments_inl.h"
#include "function/dispatch.h"
#include "function/entrance.h"
#include "function/entrance_inl.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/serve_inl.h"
#include "hidden/hidden.h"
#include "launcher/launch_api.h"

PyFunctionObject **
entrance_pooled(PyObject *entrance)
{
    return &((Entrance *)entrance)->entry_paths.pooled;
}

#define STAR_FLAGS (CO_VARARGS | CO_VARKEYWORDS)

/* ---- binding ------------------------------------------------------------------------------------------- */

/* Put positional arguments into slots: 1, 0 if there are too many, -1 with an exception set. `stars`: flags of the star
 * arguments to bind. */
static int
positional_bind(const PyCodeObject *code, int stars, const Arguments *arguments, PyObject **slots)
{
    Py_ssize_t given = arguments->npositional, count = given <= code->co_argcount ? given : code->co_argcount;
    for (Py_ssize_t i = 0; i < count; i++) {
        slot_fill(slots, i, arguments->positional[i]);
    }
    if (!(stars & CO_VARARGS)) {
        return given <= code->co_argcount;
    }
    PyObject *rest = PyTuple_New(given - count); /* owned, then the slot's */
    if (rest == NULL) {
        return -1;
    }
    for (Py_ssize_t i = count; i < given; i++) {
        Py_INCREF(arguments->positional[i]);
        PyTuple_SET_ITEM(rest, i - count, arguments->positional[i]);
    }
    slots[code->co_argcount + code->co_kwonlyargcount] = rest;
    return 1;
}

/* As positional_bind, for keywords; also 0 if only CPython can compare a name, or has to raise. */
static int
keywords_bind(const PyCodeObject *code, int stars, const Shape *shape, const Arguments *arguments, PyObject **slots)
{
    PyObject *rest = NULL; /* owned by its slot */
    if (stars & CO_VARKEYWORDS) {
        rest = PyDict_New();
        if (rest == NULL) {
            return -1;
        }
        slots[code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS)] = rest;
    }
    for (Py_ssize_t i = 0; i < arguments->nkeywords; i++) {
        Py_ssize_t slot = keyword_slot(code, shape->varnames, arguments->names[i]);
        if (slot >= 0 && slots[slot] == NULL) {
            slot_fill(slots, slot, arguments->values[i]);
            continue;
        }
        if (slot >= 0 || rest == NULL || !PyUnicode_CheckExact(arguments->names[i])) {
            return 0;
        }
        if (PyDict_SetItem(rest, arguments->names[i], arguments->values[i]) < 0) {
            return -1;
        }
    }
    return 1;
}

/* Make the cells of a call: 1, or -1 with an exception set. An argument in a cell moves there from its slot. */
static int
cells_bind(const Shape *shape, PyObject **slots)
{
    for (Py_ssize_t i = 0; i < shape->ncells; i++) {
        PyObject **argument = shape->arguments[i] >= 0 ? &slots[shape->arguments[i]] : NULL;
        PyObject *cell = PyCell_New(argument != NULL ? *argument : NULL); /* owned, then the slot's */
        if (cell == NULL) {
            return -1;
        }
        slots[shape->nlocals + i] = cell;
        if (argument != NULL) {
            Py_CLEAR(*argument);
        }
    }
    return 1;
}

/* Fill the slots of a call with owned references or NULL, as a frame of 3.10 has them at its start. The slots are
 * NULL before. 1; 0 if CPython has to raise; -1 with an exception set. Unless `all`, star arguments and cells are
 * left out. */
static int
arguments_bind(const PyFunctionObject *function, const PyCodeObject *code, const Shape *shape, const Arguments *arguments,
               int all, PyObject **slots)
{
    int stars = all ? code->co_flags & STAR_FLAGS : 0;
    int bound = positional_bind(code, stars, arguments, slots);
    if (bound > 0 && (arguments->nkeywords > 0 || (stars & CO_VARKEYWORDS))) {
        bound = keywords_bind(code, stars, shape, arguments, slots);
    }
    if (bound <= 0) {
        return bound;
    }
    if ((arguments->npositional < code->co_argcount || code->co_kwonlyargcount > 0)
        && !defaults_bind(function, code, shape->varnames, slots)) {
        return 0;
    }
    if (shape->nfree != (function->func_closure == NULL ? 0 : PyTuple_GET_SIZE(function->func_closure))) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < shape->nfree; i++) {
        slot_fill(slots, shape->nlocals + shape->ncells + i, PyTuple_GET_ITEM(function->func_closure, i));
    }
    return all ? cells_bind(shape, slots) : 1;
}

/* Memory for the slots of a call, all NULL: `few` if that is large enough. NULL with an exception set. */
static PyObject **
slots_begin(const Shape *shape, PyObject **few)
{
    PyObject **slots = shape->nslots <= MOST_SLOTS ? few : PyMem_New(PyObject *, shape->nslots);
    if (slots == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memset(slots, 0, shape->nslots * sizeof(PyObject *));
    return slots;
}

static void
slots_end(const Shape *shape, PyObject **slots, PyObject **few)
{
    for (Py_ssize_t i = 0; i < shape->nslots; i++) {
        Py_XDECREF(slots[i]);
    }
    if (slots != few) {
        PyMem_Free(slots);
    }
}

int
dispatch_accepted(const GuardsAPI *guards, PyObject *cache, PyFunctionObject *function, const Arguments *arguments)
{
    PyObject *few[MOST_SLOTS];                                /* items owned */
    PyObject *found = NULL;                                   /* owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* owned: guards run no code, but finalizers may */
    Py_INCREF(code);
    const Shape *shape = shape_of(code);
    PyObject **slots = shape != NULL ? slots_begin(shape, few) : NULL;
    if (slots != NULL) {
        if (arguments_bind(function, code, shape, arguments, 0, slots) > 0) {
            found = guards->cache_lookup(cache, slots, shape->nslots, function->func_globals, NULL, NULL);
        }
        slots_end(shape, slots, few);
    }
    PyErr_Clear();
    Py_DECREF(code);
    Py_XDECREF(found);
    return found != NULL;
}

/* ---- serving ------------------------------------------------------------------------------------------- */

static Dispatched
record_make(Served *served, const BoundCall *call, PyCodeObject *linked, PyObject *entrance)
{
    served->result = NULL;
    served->record = record_new(call->code, linked, entrance);
    return served->record != NULL ? DISPATCH_LINKED : DISPATCH_DONE;
}

/* Run the entry's kernel on the inputs that the guards have fetched, which are released. */
static Dispatched
entrance_launch(Entrance *self, const BoundCall *call, Fetched *fetched, Served *served)
{
    Left left; /* the values are not cleared: only as many as the launcher counts are read */
    left.lands = NULL;
    left.nexits = 0;
    Launched status = launch_api->launch(self->launcher, fetched->items, fetched->count, call->function->func_globals,
                                         call->builtins, &left, &served->result);
    fetched_release(fetched);
    if (status == LAUNCH_RETURNED) {
        return DISPATCH_DONE;
    }
    HandOver over = {.launcher = self->launcher};
    if (status == LAUNCH_LEFT) {
        over.answer = served->result;
        if (over.answer == NULL) {
            PyErr_Fetch(&over.type, &over.value, &over.traceback);
        }
    }
    Dispatched done = record_make(served, call, (PyCodeObject *)self->code, (PyObject *)self);
    if (done == DISPATCH_LINKED) {
        served->record->leaves = status == LAUNCH_LEFT;
        served->record->over = over;
        return done;
    }
    Py_XDECREF(over.answer);
    Py_XDECREF(over.type);
    Py_XDECREF(over.value);
    Py_XDECREF(over.traceback);
    return done;
}

/* Serve a call by linked code, if it fits. */
static Dispatched
linked_serve(const BoundCall *call, PyObject *payload, Served *served)
{
    if (Py_TYPE(payload) == &Entrance_Type && entrance_fits((Entrance *)payload, call)) {
        return record_make(served, call, (PyCodeObject *)((Entrance *)payload)->code, payload);
    }
    PyCodeObject *linked = marks_accept(call->code, payload); /* owned */
    if (linked == NULL) {
        return DISPATCH_PLAIN;
    }
    Dispatched done = record_make(served, call, linked, NULL);
    Py_DECREF(linked);
    return done;
}

/* Serve a call with the payload that a cache or on_miss gave; it is taken over. */
static Dispatched
payload_serve(const Mark *mark, const BoundCall *call, PyObject *payload, Fetched *fetched, Served *served)
{
    TimedRun *run = &served->run;
    served->original = timing_payload(payload) == Py_None;
    timing_begin(run, payload);
    if (run->timing != NULL && run->side == RUN_KERNELS && mark->cache != NULL) {
        timing_repeat(mark->guards, mark->cache, call->slots, call->nslots, call->function->func_globals, call->builtins);
    }
    PyObject *inner = run->side != RUN_PLAIN ? timing_payload(payload) : Py_None; /* borrowed from the payload */
    Dispatched done;
    if (fetched->count >= 0 && Py_TYPE(inner) == &Entrance_Type && ((Entrance *)inner)->launcher != NULL
        && entrance_fits((Entrance *)inner, call)) {
        done = entrance_launch((Entrance *)inner, call, fetched, served);
    }
    else {
        fetched_release(fetched);
        done = linked_serve(call, inner, served);
    }
    Py_DECREF(payload);
    return done;
}

/* Serve a call whose arguments are bound. `whole`: guards see all objects that the call uses, so a kernel may run
 * first. */
static Dispatched
call_serve(const Mark *mark, Pace *pace, const BoundCall *call, int whole, Served *served)
{
    PyObject *items[MOST_INPUTS]; /* owned as far as they are counted */
    Fetched fetched = {items, MOST_INPUTS, -1};
    PyObject *payload = payload_of_call(mark, pace, call, whole ? &fetched : NULL); /* owned, then taken over */
    return payload != NULL ? payload_serve(mark, call, payload, &fetched, served) : DISPATCH_DONE;
}

Dispatched
dispatch_mark(PyThreadState *tstate, const Mark *mark, const Shape *shape, Pace *pace, PyFunctionObject *function,
              const Arguments *arguments, Served *served)
{
    PyObject *few[MOST_SLOTS];                                /* items owned */
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* owned: the function may get other code */
    Py_INCREF(code);
    PyObject **slots = slots_begin(shape, few);
    Dispatched done = DISPATCH_DONE;
    if (slots != NULL) {
        BoundCall call = {function, code, function->func_builtins, slots, shape->nslots};
        int bound = arguments_bind(function, code, shape, arguments, 1, slots);
        if (bound > 0) {
            /* At the recursion limit no kernel runs first: the call must raise RecursionError as the function would. */
            int whole = !(code->co_flags & STAR_FLAGS) && shape->ncells == 0 && thread_levels_left(tstate) > 0;
            done = call_serve(mark, pace, &call, whole, served);
        }
        else if (bound == 0) {
            done = DISPATCH_PLAIN;
        }
        slots_end(shape, slots, few);
    }
    Py_DECREF(code);
    return done;
}

Dispatched
dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, Served *served)
{
    Mark mark;
    const Shape *shape;
    if (pace->rest > 0) {
        pace->rest--;
        return DISPATCH_PLAIN;
    }
    PyThreadState *tstate = PyThreadState_Get();
    if (!hook_mark_of(tstate, (PyCodeObject *)function->func_code, &mark, &shape)) {
        return DISPATCH_PLAIN;
    }
    /* The code that runs may unmark the code object. */
    Py_XINCREF(mark.cache);
    Py_INCREF(mark.on_miss);
    Dispatched done = dispatch_mark(tstate, &mark, shape, pace, function, arguments, served);
    Py_DECREF(mark.on_miss);
    Py_XDECREF(mark.cache);
    return done;
}
