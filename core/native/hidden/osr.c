/* On-stack replacement, bounded: moves a running call to newer linked code.
 *
 * At a loop's header, linked code that still observes types asks an *OSR check* for an item, which is the cheapest call
 * in bytecode. Most visits get none, and the loop continues. After an item, linked code calls the OSR check with its own
 * cells. It returns None; or a Move, if its `ask` has newer linked code. Then linked code calls the Move with its operand
 * stack, a tuple, and returns the result. record_move resumes in the newer code, which begins with `arrive`. That
 * returns the locals of the original, UNBOUND for those without a value, then the cells, then the operand stack.
 *
 *   no hidden function, tracing, MAX_MOVES reached      ->  None, without a call of `ask`
 *   another reference to the frame object exists        ->  None: its owner would see another frame's locals afterwards
 *   most visits, see osr_check.h                        ->  no item */
#include "hidden/osr.h"
#include "function/dispatch.h"
#include "function/marks/code_marks.h"
#include "function/marks/marks_inl.h"
#include "hidden/hidden.h"
#include "hidden/run_records.h"
#include "hidden/thread_runs.h"

static void
move_dealloc(Move *self)
{
    Py_DECREF(self->code);
    Py_XDECREF(self->payload);
    PyObject_Free(self);
}

/* Called with the operand stack, a Move stores it and returns itself. */
static PyObject *
move_call(Move *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *stack; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!:Move", &PyTuple_Type, &stack)) {
        return NULL;
    }
    Py_INCREF(stack);
    if (PyTuple_SetItem(self->payload, PyTuple_GET_SIZE(self->payload) - 1, stack) < 0) {
        return NULL;
    }
    Py_INCREF(self);
    return (PyObject *)self;
}

PyTypeObject Move_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Move",
    .tp_basicsize = sizeof(Move),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)move_dealloc,
    .tp_call = (ternaryfunc)move_call,
};

/* The run that can move now, or NULL. */
static RunRecord *
osr_check_run(PyThreadState *tstate, Py_ssize_t ncells)
{
    RunRecord *record = here.newest;
    if (record == NULL || record->moves >= MAX_MOVES || thread_is_off() || thread_is_traced(tstate)
        || record->linked->co_ncellvars != ncells) {
        return NULL;
    }
    PyFrameObject *frame = PyEval_GetFrame(); /* borrowed */
    if (frame == NULL || Py_REFCNT(frame) > 1) {
        return NULL;
    }
    PyCodeObject *code = PyFrame_GetCode(frame); /* owned */
    int runs = code == record->linked;
    Py_DECREF(code);
    return runs ? record : NULL;
}

/* The value of a frame's local, NEW; NULL without an exception if it is unbound, with one on errors.
 *
 * The frame must not keep a copy, which would keep values alive that the program has released. */
#if PY_VERSION_HEX >= 0x030c0000
static PyObject *
local_value(PyFrameObject *frame, PyObject *name)
{
    PyObject *value = PyFrame_GetVar(frame, name); /* owned, given away */
    if (value == NULL && PyErr_ExceptionMatches(PyExc_NameError)) {
        PyErr_Clear();
    }
    return value;
}
#else
static PyObject *
local_value(PyFrameObject *frame, PyObject *name)
{
    PyObject *locals = PyFrame_GetLocals(frame); /* owned; the frame has a reference, too */
    PyObject *value = locals != NULL ? PyDict_GetItemWithError(locals, name) : NULL; /* borrowed, then owned */
    Py_XINCREF(value);
    if (locals != NULL && Py_REFCNT(locals) == 2) {
        PyDict_Clear(locals);
    }
    Py_XDECREF(locals);
    return value;
}
#endif

/* Put the values of the original's locals into `items`, UNBOUND for those without one, and the cells after them: 0,
 * or -1 with an exception set. */
static int
variables_read(const Shape *shape, PyFrameObject *frame, PyObject *const *cells, PyObject **items)
{
    for (Py_ssize_t i = 0; i < shape->nlocals; i++) {
        PyObject *name = PyTuple_GET_ITEM(shape->varnames, i); /* borrowed */
        int in_cell = 0;
        for (Py_ssize_t k = 0; k < shape->ncells; k++) {
            in_cell |= shape->arguments[k] == i;
        }
        PyObject *value = in_cell ? NULL : local_value(frame, name); /* owned, given away */
        if (value == NULL && PyErr_Occurred()) {
            return -1;
        }
        if (value == NULL) {
            Py_INCREF(unbound);
            value = unbound;
        }
        items[i] = value;
    }
    for (Py_ssize_t i = 0; i < shape->ncells; i++) {
        Py_INCREF(cells[i]);
        items[shape->nlocals + i] = cells[i];
    }
    return 0;
}

/* A NEW tuple of the variables of a run, with a free last item for the operand stack; NULL with an exception set. */
static PyObject *
osr_check_payload(const Shape *shape, PyObject *const *cells)
{
    PyObject *payload = PyTuple_New(shape->nlocals + shape->ncells + 1); /* owned, given away */
    if (payload != NULL && variables_read(shape, PyEval_GetFrame(), cells, &PyTuple_GET_ITEM(payload, 0)) < 0) {
        Py_CLEAR(payload);
    }
    return payload;
}

/* The answer of `ask` about a run: NEW, or NULL with an exception set. */
static PyObject *
osr_check_ask(OsrCheck *self, RunRecord *record, const Shape *shape, PyObject *payload)
{
    PyObject *slots = PyList_New(shape->nslots);         /* owned */
    PyObject *visits = PyLong_FromSsize_t(self->visits); /* owned */
    PyObject *answer = NULL;                             /* owned, given away */
    if (slots != NULL && visits != NULL) {
        Py_ssize_t own = shape->nlocals + shape->ncells;
        for (Py_ssize_t i = 0; i < shape->nslots; i++) {
            PyObject *value = i < own ? PyTuple_GET_ITEM(payload, i)
                                      : PyTuple_GET_ITEM(record->hidden->func_closure, i - own); /* borrowed */
            Py_INCREF(value);
            PyList_SET_ITEM(slots, i, value);
        }
        pause_begin();
        answer = PyObject_CallFunctionObjArgs(self->ask, (PyObject *)record->code, slots, record->hidden->func_globals,
                                              record->hidden->func_builtins, visits, NULL);
        pause_end();
    }
    Py_XDECREF(slots);
    Py_XDECREF(visits);
    return answer;
}

/* The Move to the code that `ask` has returned; the payload is taken over. NEW, or NULL with an exception set. */
static PyObject *
move_make(RunRecord *record, PyObject *answer, PyObject *payload)
{
    if (!PyCode_Check(answer) || !marks_fit(record->code, (PyCodeObject *)answer)) {
        Py_DECREF(payload);
        PyErr_SetString(PyExc_ValueError, "the code object to go on in does not fit");
        return NULL;
    }
    Move *move = PyObject_New(Move, &Move_Type); /* owned, given away */
    if (move == NULL) {
        Py_DECREF(payload);
        return NULL;
    }
    Py_INCREF(answer);
    move->code = (PyCodeObject *)answer;
    move->payload = payload;
    return (PyObject *)move;
}

/* A Move or None, NEW; NULL with an exception that `ask` has raised. */
static PyObject *
osr_check_try(OsrCheck *self, RunRecord *record, PyObject *const *cells, Py_ssize_t ncells)
{
    const Shape *shape = shape_of(record->code);
    PyObject *payload = shape != NULL ? osr_check_payload(shape, cells) : NULL;              /* owned, then the Move's */
    PyObject *answer = payload != NULL ? osr_check_ask(self, record, shape, payload) : NULL; /* owned */
    if (answer == NULL || answer == Py_None) {
        Py_XDECREF(payload);
        if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
            PyErr_Clear();
            Py_RETURN_NONE;
        }
        return answer;
    }
    /* `ask` may have taken a reference to the frame, or have switched on tracing. */
    PyObject *move = NULL; /* owned, given away */
    if (osr_check_run(PyThreadState_Get(), ncells) == record) {
        move = move_make(record, answer, payload);
    }
    else {
        Py_DECREF(payload);
    }
    Py_DECREF(answer);
    if (move != NULL) {
        return move;
    }
    if (PyErr_Occurred()) {
        error_report(record->code);
    }
    Py_RETURN_NONE;
}

PyObject *
osr_check_call(OsrCheck *self, PyObject *args, PyObject *Py_UNUSED(kwargs))
{
    PyObject *const *cells = &PyTuple_GET_ITEM(args, 0); /* borrowed */
    Py_ssize_t ncells = PyTuple_GET_SIZE(args);
    PyThreadState *tstate = PyThreadState_Get();
    RunRecord *record = osr_check_run(tstate, ncells);
    if (record == NULL || !thread_has_room(tstate)) {
        Py_RETURN_NONE;
    }
    return osr_check_try(self, record, cells, ncells);
}

PyObject *
hook_osr_check(PyObject *Py_UNUSED(module), PyObject *ask)
{
    return osr_check_new(ask, 0);
}
