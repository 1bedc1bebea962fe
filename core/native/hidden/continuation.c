/* Continuations of inlined calls: hidden functions that start in the middle of the callee.
 *
 * A Continuation has the callee's code with a prologue that takes values from `arrive` and jumps to the resume point.
 * Linked code calls it, in the frame of the callee's caller, with one tuple: the function, then these values. It runs
 * as a hidden function, so tracebacks and sys._getframe show a frame of the callee. */
#include "hidden/continuation.h"
#include "function/dispatch.h"
#include "hidden/hidden.h"
#include "hidden/run_records.h"
#include <stddef.h>

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyCodeObject *code; /* owned */
    Py_ssize_t count;   /* the number of values */
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
    if ((closure == NULL ? 0 : PyTuple_GET_SIZE(closure)) != PyCode_GetNumFree(self->code)) {
        return "the function has another closure";
    }
    return NULL;
}

/* A NEW tuple of the values, or NULL with an exception set. They are moved if `state` has no other reference, so that
 * only the callee's frame holds them, as after a call. */
static PyObject *
continuation_payload(Continuation *self, PyObject *state)
{
    PyObject *payload = PyTuple_New(self->count); /* owned, given away */
    for (Py_ssize_t i = 0; payload != NULL && i < self->count; i++) {
        PyObject *value = PyTuple_GET_ITEM(state, i + 1); /* borrowed, or moved */
        if (Py_REFCNT(state) > 1) {
            Py_INCREF(value);
        }
        else {
            Py_INCREF(Py_None);
            PyTuple_SET_ITEM(state, i + 1, Py_None);
        }
        PyTuple_SET_ITEM(payload, i, value);
    }
    return payload;
}

static PyObject *
continuation_vectorcall(PyObject *object, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Continuation *self = (Continuation *)object;
    if (PyVectorcall_NARGS(nargsf) != 1 || names != NULL) {
        PyErr_SetString(PyExc_TypeError, "a continuation takes the state of its call");
        return NULL;
    }
    const char *why_not = continuation_why_not(self, args[0]);
    if (why_not != NULL) {
        PyErr_SetString(PyExc_SystemError, why_not);
        return NULL;
    }
    PyObject *payload = stack_ends() ? NULL : continuation_payload(self, args[0]); /* owned, then the run's */
    if (payload == NULL) {
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    PyObject *function = PyTuple_GET_ITEM(args[0], 0); /* borrowed: the caller has the state */
    thread_refund_entry(tstate);
    PyObject *result = record_arrive((PyFunctionObject *)function, self->code, payload); /* owned, given away */
    thread_charge_entry(tstate);
    return result;
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
    if (self != NULL) {
        Py_INCREF(code);
        self->code = (PyCodeObject *)code;
        self->count = PyTuple_GET_SIZE(slots);
        self->vectorcall = continuation_vectorcall;
    }
    return (PyObject *)self;
}

static void
continuation_dealloc(Continuation *self)
{
    Py_XDECREF(self->code);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
continuation_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    Py_INCREF(self);
    return self;
}

static PyGetSetDef continuation_getset[] = {
    {"callable", continuation_get_callable, NULL, "What linked code calls, with the state.", NULL},
    {NULL},
};

PyTypeObject Continuation_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Continuation",
    .tp_basicsize = sizeof(Continuation),
    .tp_doc = "Continuation(code, slots)\n--\n\nThe continuation of a call whose beginning a kernel has run.",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Continuation, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = continuation_new,
    .tp_dealloc = (destructor)continuation_dealloc,
    .tp_getset = continuation_getset,
};
