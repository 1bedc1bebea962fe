/* Continuations of inlined calls: a frame of the callee that starts in the middle of its run.
 *
 * The code of a Continuation begins with a jump to the resume point. It needs some variables there. Linked code calls
 * the Continuation in the frame of the callee's caller, with one tuple: the function, then a value for each of those
 * variables. It runs in a frame like that of the call, so tracebacks and sys._getframe show the callee's frame. */
#include "hook/continuation.h"
#include "cpython/vectorcall/vectorcall_slot_inl.h"
#include "function/dispatch.h"
#include "function/marks/code_marks_inl.h"
#include "hook/shadow_frame.h"
#include "hook/shadow_frame_inl.h"
#include <stddef.h>

typedef struct {
    PyObject_HEAD
    VECTORCALL_FIELD
    PyCodeObject *code; /* owned */
    Py_ssize_t count;
    Py_ssize_t *slots; /* owned; the local or cell that each item of the tuple after the first sets */
} Continuation;

/* The reason why a tuple does not fit the code, or NULL. */
static const char *
continuation_why_not(Continuation *self, PyObject *state)
{
    if (!PyTuple_CheckExact(state) || PyTuple_GET_SIZE(state) != self->count + 1) {
        return "the state is not a tuple of the right size";
    }
    PyObject *function = PyTuple_GET_ITEM(state, 0); /* borrowed */
    if (Py_TYPE(function) != &PyFunction_Type) {
        return "the state does not begin with a function";
    }
    PyObject *closure = PyFunction_GET_CLOSURE(function); /* borrowed */
    if ((closure == NULL ? 0 : PyTuple_GET_SIZE(closure)) != PyTuple_GET_SIZE(self->code->co_freevars)) {
        return "the function has another closure";
    }
    return NULL;
}

/* Put the values of cell variables into cells: 1, or 0 with an exception set. */
static int
continuation_make_cells(PyObject **cells, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *cell = PyCell_New(cells[i]); /* owned, then the frame's */
        if (cell == NULL) {
            return 0;
        }
        Py_XSETREF(cells[i], cell);
    }
    return 1;
}

/* Fill the frame with the values of the tuple. They are moved if the tuple has no other reference, so that only the
 * frame holds them, as after a call. 1, or 0 with an exception set. */
static int
continuation_fill(Continuation *self, PyObject *state, PyFrameObject *frame)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        PyObject **from = &PyTuple_GET_ITEM(state, i + 1);
        if (Py_REFCNT(state) > 1) {
            slot_set(&frame->f_localsplus[self->slots[i]], *from);
            continue;
        }
        slots_move(&frame->f_localsplus[self->slots[i]], from, 1);
        slot_set(from, Py_None);
    }
    PyObject **cells = frame->f_localsplus + self->code->co_nlocals;
    Py_ssize_t ncells = PyTuple_GET_SIZE(self->code->co_cellvars);
    PyObject *closure = PyFunction_GET_CLOSURE(PyTuple_GET_ITEM(state, 0)); /* borrowed */
    for (Py_ssize_t i = 0; closure != NULL && i < PyTuple_GET_SIZE(closure); i++) {
        slot_set(&cells[ncells + i], PyTuple_GET_ITEM(closure, i));
    }
    return continuation_make_cells(cells, ncells);
}

/* Run the continuation. NEW reference: the function's result; or NULL with an exception set. */
static PyObject *
continuation_run(PyObject *object, PyObject *state)
{
    Continuation *self = (Continuation *)object;
    const char *why_not = continuation_why_not(self, state);
    if (why_not != NULL) {
        PyErr_SetString(PyExc_SystemError, why_not);
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    PyFunctionObject *function = (PyFunctionObject *)PyTuple_GET_ITEM(state, 0); /* borrowed */
    /* owned, then the run's */
    PyFrameObject *frame = shadow_new(tstate, self->code, function->func_globals, NULL, function_builtins(tstate, function));
    if (frame == NULL) {
        return NULL;
    }
    if (!continuation_fill(self, state, frame)) {
        shadow_free(tstate, frame);
        return NULL;
    }
    return shadow_run(tstate, frame, self->code);
}

VECTORCALL_WITH_ONE_ARGUMENT(continuation_vectorcall, continuation_run, "a continuation takes the state of its call")

/* Up to CPython 3.7. The caller has counted a level of recursion, which the continuation itself would not cost. */
static PyObject *
continuation_launch(PyObject *self, PyObject *state)
{
    PyThreadState *tstate = PyThreadState_Get();
    tstate->recursion_depth--;
    PyObject *result = continuation_run(self, state); /* owned, given away */
    tstate->recursion_depth++;
    return result;
}

static PyMethodDef continuation_method = {"continuation", continuation_launch, METH_O, NULL};

static PyObject *
continuation_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    return vectorcall_callable(self, &continuation_method);
}

/* Set the indices of locals and cells; 0, or -1 with an exception set. */
static int
continuation_set_slots(Continuation *self, PyObject *slots)
{
    self->count = PyTuple_GET_SIZE(slots);
    self->slots = PyMem_Calloc(self->count + 1, sizeof(Py_ssize_t));
    if (self->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < self->count; i++) {
        self->slots[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i));
        if (self->slots[i] < 0 || self->slots[i] >= self->code->co_nlocals + PyTuple_GET_SIZE(self->code->co_cellvars)) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_ValueError, "there is no variable %zd", self->slots[i]);
            }
            return -1;
        }
    }
    return 0;
}

static PyObject *
continuation_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"code", "slots", NULL};
    PyObject *code, *slots; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!:Continuation", keywords, &PyCode_Type, &code, &PyTuple_Type,
                                     &slots)) {
        return NULL;
    }
    Continuation *self = (Continuation *)type->tp_alloc(type, 0); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(code);
    self->code = (PyCodeObject *)code;
    VECTORCALL_SET(self, continuation_vectorcall);
    if (continuation_set_slots(self, slots) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static void
continuation_dealloc(Continuation *self)
{
    Py_XDECREF(self->code);
    PyMem_Free(self->slots);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyGetSetDef continuation_getset[] = {
    {"callable", continuation_get_callable, NULL, "What linked code calls, with the state.", NULL},
    {NULL},
};

PyTypeObject Continuation_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Continuation",
    VECTORCALL_LAYOUT(Continuation),
    .tp_doc = "Continuation(code, slots)\n--\n\nThe continuation of a call whose beginning a kernel has run.",
    .tp_flags = Py_TPFLAGS_DEFAULT | VECTORCALL_FLAG,
    .tp_call = VECTORCALL_CALL,
    .tp_new = continuation_new,
    .tp_dealloc = (destructor)continuation_dealloc,
    .tp_getset = continuation_getset,
};
