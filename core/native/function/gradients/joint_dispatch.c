/* JointDispatch: calls of a gradient function that run joint functions, on all versions.
 *
 * pijit/gradient_kernels.py makes joint functions, and sets here the entries and NumPy's error states. `run` does for
 * a call what that module does otherwise: it looks for the entry whose guards hold, enters the error states, and calls
 * the functions of the entry. It returns None for calls that need more than that; the module handles them.
 *
 * All state is guarded by the GIL. A call owns the entries that it uses, because it may run code that sets others. */
#include "function/gradients/joint_dispatch.h"
#include "capsule_inl.h"
#include "evaluate.h"
#include "function/gradients/error_contexts.h"
#include "function/marks/code_marks.h"
#include "function_code_inl.h"

#define SLOTS_ON_STACK 32 /* calls with more slots allocate an array */

typedef struct {
    PyObject_HEAD
    const GuardsAPI *guards;
    PyObject *function;   /* owned; the differentiated function */
    PyObject *code;       /* owned; its code object when this was made */
    PyObject *builtins;   /* owned; a dict */
    PyObject *rest;       /* owned; a tuple of the slots after the positional arguments, UNBOUND for no value */
    Py_ssize_t arguments; /* the number of positional arguments */
    PyObject *entries;    /* owned; a tuple of (program, forward, backward, scalars) */
    PyObject *caller;     /* owned; the error state of NumPy for which `contexts` hold; NULL: `run` returns None */
    ErrorContexts contexts;
} JointDispatch;

/* The parts of an entry, all borrowed. */
typedef struct {
    PyObject *program;  /* its fetch sources are the inputs of the graph */
    PyObject *forward;  /* takes the inputs; None: `run` returns None */
    PyObject *backward; /* takes all results of forward except the first, and returns the gradients; or None */
    PyObject *scalars;  /* the position of each gradient's input, if some are numbers; else an empty tuple */
} JointEntry;

static inline JointEntry
entry_at(PyObject *entries, Py_ssize_t number)
{
    PyObject *const *parts = ((PyTupleObject *)PyTuple_GET_ITEM(entries, number))->ob_item;
    return (JointEntry){parts[0], parts[1], parts[2], parts[3]};
}

/* ---- A call ---------------------------------------------------------------------------------------------- */

/* The number of the first entry whose guards hold, and in *inputs a NEW tuple of what its program fetches. -1: none,
 * and *inputs is NULL. -2: an exception is set. */
static Py_ssize_t
entry_find(JointDispatch *self, PyObject *entries, PyObject *args, PyObject **inputs)
{
    Py_ssize_t rest = PyTuple_GET_SIZE(self->rest), count = self->arguments + rest, found = -1;
    PyObject *on_stack[SLOTS_ON_STACK], **values = on_stack; /* the items are borrowed */
    *inputs = NULL;
    if (count > SLOTS_ON_STACK && (values = PyMem_Malloc(count * sizeof(PyObject *))) == NULL) {
        PyErr_NoMemory();
        return -2;
    }
    for (Py_ssize_t i = 0; i < self->arguments; i++) {
        values[i] = PyTuple_GET_ITEM(args, i);
    }
    for (Py_ssize_t i = 0; i < rest; i++) {
        PyObject *value = PyTuple_GET_ITEM(self->rest, i);
        values[self->arguments + i] = value == unbound ? NULL : value;
    }
    PyObject *globals = ((PyFunctionObject *)self->function)->func_globals; /* borrowed */
    for (Py_ssize_t i = 0; found == -1 && i < PyTuple_GET_SIZE(entries); i++) {
        PyObject *program = entry_at(entries, i).program;
        *inputs = PyTuple_New(self->guards->program_fetch_count(program)); /* owned, given away */
        if (*inputs == NULL) {
            found = -2;
        }
        else if (self->guards->program_check(program, values, count, globals, self->builtins,
                                             ((PyTupleObject *)*inputs)->ob_item)) {
            found = i;
        }
        else {
            Py_CLEAR(*inputs);
        }
    }
    if (values != on_stack) {
        PyMem_Free(values);
    }
    return found;
}

/* NEW reference to the result of a function of an entry, under an error state: a tuple with items, or None or False for
 * a call that the function is not for. NULL with an exception set. */
static PyObject *
function_call(JointDispatch *self, const CallErrorState *state, PyObject *function, PyObject *args)
{
    PyObject *result = error_state_call(&self->contexts, state, function, args); /* owned, given away */
    if (result != NULL && result != Py_None && result != Py_False
        && (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) == 0)) {
        PyErr_Format(PyExc_SystemError, "a joint function returned %.200R", result);
        Py_CLEAR(result);
    }
    return result;
}

/* NEW tuple of gradients, where those of numbers have the types of their inputs; NULL with an exception set. */
static PyObject *
gradients_typed(PyObject *gradients, PyObject *inputs, PyObject *scalars)
{
    Py_ssize_t count = PyTuple_GET_SIZE(gradients);
    PyObject *typed = PyTuple_New(count); /* owned, given away */
    for (Py_ssize_t i = 0; typed != NULL && i < count; i++) {
        Py_ssize_t position = PyLong_AsSsize_t(PyTuple_GET_ITEM(scalars, i));
        PyObject *gradient = PyTuple_GET_ITEM(gradients, i), *kind = (PyObject *)Py_TYPE(PyTuple_GET_ITEM(inputs, position));
        if (kind == (PyObject *)Py_TYPE(gradient)) {
            Py_INCREF(gradient);
        }
        else if (kind == (PyObject *)&PyFloat_Type && PyFloat_Check(gradient)) {
            gradient = PyFloat_FromDouble(PyFloat_AS_DOUBLE(gradient)); /* owned, given away */
        }
        else if ((gradient = PyObject_CallFunctionObjArgs(kind, gradient, NULL)) == NULL) {
            gradient = NULL;
        }
        if (gradient == NULL) {
            Py_CLEAR(typed);
            break;
        }
        PyTuple_SET_ITEM(typed, i, gradient);
    }
    return typed;
}

/* Put a function's answer to a call that it is not for into the outcome: 1; 0 if it is the result. */
static int
is_refused(PyObject *result, JointOutcome *outcome)
{
    if (result != Py_None && result != Py_False) {
        return 0;
    }
    Py_INCREF(result);
    outcome->error = result;
    return 1;
}

/* Run an entry and fill the outcome: 0, or -1 with an exception set. */
static int
entry_run(JointDispatch *self, const JointEntry *entry, PyObject *inputs, JointOutcome *outcome)
{
    CallErrorState raising = error_state_take(&self->contexts, RAISING),
                   ignoring = error_state_take(&self->contexts, IGNORING);
    PyObject *gradients = NULL;                                               /* owned */
    PyObject *result = function_call(self, &raising, entry->forward, inputs); /* owned */
    if (result != NULL && !is_refused(result, outcome)
        && (gradients = PyTuple_GetSlice(result, 1, PyTuple_GET_SIZE(result))) != NULL && entry->backward != Py_None) {
        Py_SETREF(gradients, function_call(self, &ignoring, entry->backward, gradients));
    }
    if (gradients != NULL && is_refused(gradients, outcome)) {
        Py_CLEAR(gradients);
    }
    if (gradients != NULL && PyTuple_GET_SIZE(entry->scalars) == PyTuple_GET_SIZE(gradients)) {
        Py_SETREF(gradients, gradients_typed(gradients, inputs, entry->scalars));
    }
    if (gradients != NULL) {
        outcome->value = PyTuple_GET_ITEM(result, 0);
        Py_INCREF(outcome->value);
        outcome->gradients = gradients;
    }
    Py_XDECREF(result);
    error_state_release(&raising);
    error_state_release(&ignoring);
    return gradients != NULL || outcome->error != NULL ? 0 : -1;
}

/* NEW reference to the current exception, which is cleared; NULL if it is no Exception, and stays set. */
static PyObject *
exception_take(void)
{
    if (!PyErr_ExceptionMatches(PyExc_Exception)) {
        return NULL;
    }
    PyObject *type, *value, *traceback; /* owned */
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
        Py_DECREF(traceback);
    }
    Py_DECREF(type);
    return value;
}

/* Whether the error states are those that follow from the caller's: 1, 0, or -1 with an exception set. */
static int
states_hold(const JointDispatch *self)
{
    PyObject *state; /* owned */
    if (self->caller == NULL) {
        return 0;
    }
    if (PyContextVar_Get(self->contexts.variable, NULL, &state) < 0) {
        return -1;
    }
    Py_XDECREF(state);
    return state == self->caller;
}

int
joint_run(PyObject *dispatch, PyObject *args, JointOutcome *outcome)
{
    JointDispatch *self = (JointDispatch *)dispatch;
    *outcome = (JointOutcome){NULL, NULL, NULL, -1};
    const PyThreadState *tstate = PyThreadState_Get();
    int holds = PyTuple_GET_SIZE(args) == self->arguments && tstate->c_tracefunc == NULL && tstate->c_profilefunc == NULL
                && function_code((PyFunctionObject *)self->function) == self->code;
    if (!holds || (holds = states_hold(self)) <= 0) {
        return holds;
    }
    PyObject *entries = self->entries, *inputs; /* owned */
    Py_INCREF(entries);
    int ran = 0;
    Py_ssize_t number = outcome->number = entry_find(self, entries, args, &inputs);
    JointEntry entry = number >= 0 ? entry_at(entries, number) : (JointEntry){NULL, Py_None, Py_None, NULL};
    if (number == -2) {
        ran = -1;
    }
    else if (entry.forward != Py_None) {
        ran = entry_run(self, &entry, inputs, outcome) == 0 || (outcome->error = exception_take()) != NULL ? 1 : -1;
    }
    Py_XDECREF(inputs);
    Py_DECREF(entries);
    return ran;
}

void
joint_outcome_release(JointOutcome *outcome)
{
    Py_CLEAR(outcome->value);
    Py_CLEAR(outcome->gradients);
    Py_CLEAR(outcome->error);
}

static PyObject *
dispatch_run(JointDispatch *self, PyObject *args)
{
    if (!PyTuple_CheckExact(args)) {
        return PyErr_Format(PyExc_TypeError, "args must be a tuple, not %.200s", Py_TYPE(args)->tp_name);
    }
    JointOutcome outcome;
    int ran = joint_run((PyObject *)self, args, &outcome);
    if (ran < 0) {
        return NULL;
    }
    if (ran == 0) {
        Py_RETURN_NONE;
    }
    PyObject *answer = outcome.error != NULL ? Py_BuildValue("(On)", outcome.error, outcome.number)
                                             : Py_BuildValue("(OOn)", outcome.value, outcome.gradients, outcome.number);
    joint_outcome_release(&outcome);
    return answer;
}

/* ---- The type -------------------------------------------------------------------------------------------- */

static PyObject *
dispatch_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"function", "arguments", "rest", "builtins", NULL};
    PyObject *function, *rest, *builtins; /* borrowed */
    Py_ssize_t arguments;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!nO!O!:JointDispatch", keywords, &PyFunction_Type, &function, &arguments,
                                     &PyTuple_Type, &rest, &PyDict_Type, &builtins)) {
        return NULL;
    }
    if (arguments < 0) {
        PyErr_SetString(PyExc_ValueError, "arguments must be a number of arguments");
        return NULL;
    }
    const GuardsAPI *guards = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION);
    JointDispatch *self = guards == NULL ? NULL : (JointDispatch *)type->tp_alloc(type, 0); /* owned, given away */
    PyObject *entries = self == NULL ? NULL : PyTuple_New(0);                               /* owned, given away */
    if (entries == NULL) {
        Py_XDECREF(self);
        return NULL;
    }
    self->guards = guards;
    self->arguments = arguments;
    self->entries = entries;
    PyObject *code = function_code((PyFunctionObject *)function); /* borrowed */
    PyObject *given[] = {function, code, rest, builtins};
    PyObject **kept[] = {&self->function, &self->code, &self->rest, &self->builtins};
    for (int i = 0; i < 4; i++) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    return (PyObject *)self;
}

/* Whether an object is an entry; if not, an exception is set. */
static int
entry_is_valid(const GuardsAPI *guards, PyObject *entry)
{
    if (!PyTuple_CheckExact(entry) || PyTuple_GET_SIZE(entry) != 4 || !guards->is_program(PyTuple_GET_ITEM(entry, 0))
        || !PyTuple_CheckExact(PyTuple_GET_ITEM(entry, 3))) {
        PyErr_Format(PyExc_TypeError, "an entry is (program, forward, backward, scalars), not %.200R", entry);
        return 0;
    }
    Py_ssize_t inputs = guards->program_fetch_count(PyTuple_GET_ITEM(entry, 0));
    PyObject *scalars = PyTuple_GET_ITEM(entry, 3); /* borrowed */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(scalars); i++) {
        Py_ssize_t position = PyLong_AsSsize_t(PyTuple_GET_ITEM(scalars, i));
        if (position == -1 && PyErr_Occurred()) {
            return 0;
        }
        if (position < 0 || position >= inputs) {
            PyErr_Format(PyExc_ValueError, "a program with %zd inputs has no input %zd", inputs, position);
            return 0;
        }
    }
    return 1;
}

static PyObject *
dispatch_set_entries(JointDispatch *self, PyObject *entries)
{
    if (!PyTuple_CheckExact(entries)) {
        return PyErr_Format(PyExc_TypeError, "entries must be a tuple, not %.200s", Py_TYPE(entries)->tp_name);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(entries); i++) {
        if (!entry_is_valid(self->guards, PyTuple_GET_ITEM(entries, i))) {
            return NULL;
        }
    }
    Py_INCREF(entries);
    Py_XSETREF(self->entries, entries);
    Py_RETURN_NONE;
}

static PyObject *
dispatch_set_states(JointDispatch *self, PyObject *args)
{
    PyObject *given[4]; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!OOO:set_states", &PyContextVar_Type, &given[0], &given[1], &given[2], &given[3])) {
        return NULL;
    }
    error_contexts_set(&self->contexts, given[0], &given[2]);
    Py_INCREF(given[1]);
    Py_XSETREF(self->caller, given[1]);
    Py_RETURN_NONE;
}

static int
dispatch_traverse(JointDispatch *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->code);
    Py_VISIT(self->builtins);
    Py_VISIT(self->rest);
    Py_VISIT(self->entries);
    Py_VISIT(self->caller);
    return error_contexts_traverse(&self->contexts, visit, arg);
}

/* No tp_clear: no field is ever NULL for a caller. A reference cycle goes through the owner, a Python object. */
static void
dispatch_dealloc(JointDispatch *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->function);
    Py_XDECREF(self->code);
    Py_XDECREF(self->builtins);
    Py_XDECREF(self->rest);
    Py_XDECREF(self->entries);
    Py_XDECREF(self->caller);
    error_contexts_release(&self->contexts);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef dispatch_methods[] = {
    {"run", (PyCFunction)dispatch_run, METH_O,
     "run(args)\n--\n\n(value, gradients, number of the entry), (error, number), or None: nothing ran. An error is an\n"
     "exception, or what a function returned for a call that it is not for."},
    {"set_entries", (PyCFunction)dispatch_set_entries, METH_O,
     "set_entries(entries)\n--\n\nSet the entries, tuples (program, forward, backward, scalars)."},
    {"set_states", (PyCFunction)dispatch_set_states, METH_VARARGS,
     "set_states(variable, caller, raising, ignoring)\n--\n\nSet NumPy's error states, and their context variable."},
    {NULL},
};

PyTypeObject JointDispatch_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.JointDispatch",
    .tp_basicsize = sizeof(JointDispatch),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "JointDispatch(function, arguments, rest, builtins)\n--\n\n"
              "Calls of a gradient function that run joint functions.",
    .tp_new = dispatch_new,
    .tp_dealloc = (destructor)dispatch_dealloc,
    .tp_traverse = (traverseproc)dispatch_traverse,
    .tp_methods = dispatch_methods,
};
