/* GradientCall: the usual call of a gradient function, on all versions.
 *
 * `call` gives what the gradient function returns, if a joint function runs the call (joint_dispatch.c). It answers
 * None for all other calls, which pijit/gradient_kernels.py handles: a tape records in this thread, the stance is not
 * the default, or no entry is for the call. */
#include "function/gradients/gradient_call.h"
#include "function/gradients/joint_dispatch.h"
#include "function/marks/marks_inl.h"
#include <structmember.h>

typedef struct {
    PyObject_HEAD
    PyObject *dispatch; /* owned: a JointDispatch */
    PyObject *raised;   /* owned: called with (error, number) for the answer where an entry has raised */
    PyObject *left;     /* owned: a list; for each entry, the calls in a row that it has left */
    char single;        /* the answer has one gradient, not a tuple */
    char with_value;    /* the answer is (value, gradient) */
    char ran;           /* the last call ran a joint function, as far as this object knows */
} GradientCall;

static __thread int recording; /* a tape records in this thread */

PyObject *
gradient_set_recording(PyObject *Py_UNUSED(module), PyObject *on)
{
    int now = PyObject_IsTrue(on);
    if (now < 0) {
        return NULL;
    }
    recording = now;
    Py_RETURN_NONE;
}

/* Note that an entry has run: 0, or -1 with an exception set. */
static int
run_note(GradientCall *self, Py_ssize_t number)
{
    self->ran = 1;
    if (number >= PyList_GET_SIZE(self->left)) {
        return 0;
    }
    PyObject *zero = PyLong_FromLong(0); /* owned, given away */
    return zero == NULL ? -1 : PyList_SetItem(self->left, number, zero);
}

/* NEW reference to the answer of the gradient function. */
static PyObject *
answer_of(const GradientCall *self, const JointOutcome *outcome)
{
    PyObject *gradients = self->single ? PyTuple_GET_ITEM(outcome->gradients, 0) : outcome->gradients; /* borrowed */
    if (self->with_value) {
        return PyTuple_Pack(2, outcome->value, gradients);
    }
    Py_INCREF(gradients);
    return gradients;
}

Answered
gradient_call_answer(PyObject *call, PyObject *args, PyObject **answer)
{
    GradientCall *self = (GradientCall *)call;
    JointOutcome outcome;
    int ran = marks.other_stance || recording ? 0 : joint_run(self->dispatch, args, &outcome);
    *answer = NULL;
    if (ran <= 0) {
        return ran < 0 ? ANSWER_FAILED : NOT_ANSWERED;
    }
    Answered answered = ANSWERED;
    if (outcome.error != NULL) {
        *answer = PyObject_CallFunction(self->raised, "On", outcome.error, outcome.number);
        answered = ANSWER_RAISED;
    }
    else if (self->single && PyTuple_GET_SIZE(outcome.gradients) != 1) {
        PyErr_Format(PyExc_SystemError, "a joint function returned %zd gradients", PyTuple_GET_SIZE(outcome.gradients));
    }
    else if (run_note(self, outcome.number) == 0) {
        *answer = answer_of(self, &outcome);
    }
    joint_outcome_release(&outcome);
    return *answer != NULL ? answered : ANSWER_FAILED;
}

static PyObject *
gradient_call(GradientCall *self, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        return PyErr_Format(PyExc_TypeError, "args must be a tuple, not %.200s", Py_TYPE(args)->tp_name);
    }
    PyObject *answer; /* owned, given away */
    if (gradient_call_answer((PyObject *)self, args, &answer) == NOT_ANSWERED) {
        Py_RETURN_NONE;
    }
    return answer;
}

static PyObject *
gradient_call_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"dispatch", "raised", "left", "single", "with_value", NULL};
    PyObject *dispatch, *raised, *left; /* borrowed */
    int single, with_value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!pp:GradientCall", keywords, &JointDispatch_Type, &dispatch, &raised,
                                     &PyList_Type, &left, &single, &with_value)) {
        return NULL;
    }
    GradientCall *self = (GradientCall *)type->tp_alloc(type, 0); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    PyObject *given[] = {dispatch, raised, left};
    PyObject **kept[] = {&self->dispatch, &self->raised, &self->left};
    for (int i = 0; i < 3; i++) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    self->single = (char)single;
    self->with_value = (char)with_value;
    return (PyObject *)self;
}

static int
gradient_call_traverse(GradientCall *self, visitproc visit, void *arg)
{
    Py_VISIT(self->dispatch);
    Py_VISIT(self->raised);
    Py_VISIT(self->left);
    return 0;
}

/* No tp_clear: no field is ever NULL for a caller. A reference cycle goes through the owner, a Python object. */
static void
gradient_call_dealloc(GradientCall *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->dispatch);
    Py_XDECREF(self->raised);
    Py_XDECREF(self->left);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef gradient_call_methods[] = {
    {"call", (PyCFunction)gradient_call, METH_O,
     "call(args)\n--\n\nWhat the gradient function returns; raised(error, number); or None: nothing ran."},
    {NULL},
};

static PyMemberDef gradient_call_members[] = {
    {"ran", T_BOOL, offsetof(GradientCall, ran), 0, "Whether a call has run a joint function since this was set."},
    {NULL},
};

PyTypeObject GradientCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.GradientCall",
    .tp_basicsize = sizeof(GradientCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "GradientCall(dispatch, raised, left, single, with_value)\n--\n\n"
              "The usual call of a gradient function.",
    .tp_new = gradient_call_new,
    .tp_dealloc = (destructor)gradient_call_dealloc,
    .tp_traverse = (traverseproc)gradient_call_traverse,
    .tp_methods = gradient_call_methods,
    .tp_members = gradient_call_members,
};
