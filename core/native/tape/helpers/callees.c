/* Helpers for calls: functions with the rule of an elementwise function are recorded here. */
#include "tape/helpers/helpers.h"
#include "cpython/vectorcall/vectorcall_inl.h"
#include "tape/pointer_map_inl.h"
#include "tape/recording.h"
#include "tape/helpers/rewritten.h"
#include "tape/values_inl.h"

/* Calls of methods with more arguments are made in Python. */
#define MOST_ARGUMENTS 16

/* How calls of a rewritten function are made. */
typedef struct {
    PyObject_HEAD
    PyObject *rules; /* owned: a tuple of the Rules that `at` numbers */
    PointerMap at;   /* the index of the Rule of a function; of a method of arrays by its PyMethodDef */
    PyObject *other; /* owned: the helper in Python */
} Callees;

/* Whether an argument is a setting such as an axis: it has no adjoint and runs no code. */
static int
is_setting(PyObject *x)
{
    if (PyTuple_CheckExact(x)) {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(x); i++) {
            if (!PyLong_CheckExact(PyTuple_GET_ITEM(x, i))) {
                return 0;
            }
        }
        return 1;
    }
    return x == Py_None || PyBool_Check(x) || PyLong_CheckExact(x);
}

static int
has_name_out(PyObject *names)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "out") == 0) {
            return 1;
        }
    }
    return 0;
}

/* Whether a call can be recorded in C: its operands are plain, and its other arguments are settings. */
static int
is_recordable(const Operation *call)
{
    const Rule *rule = call->rule;
    int whole = rule->vjp != NULL;
    Py_ssize_t named = call->names != NULL ? PyTuple_GET_SIZE(call->names) : 0;
    Py_ssize_t positional = call->count - named;
    Py_ssize_t operands = whole ? Py_MIN(rule->operands, positional) : positional;
    if (call->count > MOST_OPERANDS || positional < 1 || (named > 0 && (!whole || positional < rule->operands))
        || (!whole && PyTuple_GET_SIZE(rule->partials) > 0 && PyTuple_GET_SIZE(rule->partials) != positional)
        || (named > 0 && has_name_out(call->names))) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < call->count; i++) {
        if (i < operands ? !is_plain(call->operands[i]) : !is_setting(call->operands[i])) {
            return 0;
        }
    }
    return 1;
}

/* Describe a call of a function of the rules: 1, or 0 if Python has to make it. `items` has room for the operands of a
 * method. */
static int
call_describe(const Callees *self, PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names,
              PyObject **items, Operation *call)
{
    const void *key = function;
    Py_ssize_t named = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    *call = (Operation){.operands = args, .count = count + named, .names = names};
    if (Py_TYPE(function) == &PyCFunction_Type && PyCFunction_GET_SELF(function) != NULL
        && PyArray_CheckExact(PyCFunction_GET_SELF(function)) && count + named < MOST_OPERANDS) {
        key = ((PyCFunctionObject *)function)->m_ml;
        items[0] = PyCFunction_GET_SELF(function);
        memcpy(items + 1, args, (size_t)(count + named) * sizeof(PyObject *));
        call->operands = items;
        call->count++;
    }
    Py_ssize_t at = pointer_map_get(&self->at, key);
    if (at < 0) {
        return 0;
    }
    call->rule = (Rule *)PyTuple_GET_ITEM(self->rules, at);
    return is_recordable(call);
}

/* function(*args, **names) on one tape. */
static PyObject *
callee_call(const Callees *self, Tape *tape, PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names,
            int *made)
{
    PyObject *items[MOST_OPERANDS]; /* borrowed */
    Operation call;
    *made = !tape->integers && call_describe(self, function, args, count, names, items, &call);
    if (!*made) {
        return NULL;
    }
    int marks = recording_marks(tape, call.operands, call.count);
    if (marks < 0) {
        return NULL;
    }
    Py_INCREF(tape);
    PyObject *result = vector_call(function, args, count, names); /* owned, given away */
    if (result != NULL && marks != 0) {
        call.marks = (unsigned)marks;
        result = recording_result(tape, &call, result);
    }
    Py_DECREF(tape);
    return result;
}

/* A call of a Python function that runs rewritten code; `owner`: its first argument if it is a method, or NULL. */
static PyObject *
function_call(PyObject *function, PyObject *owner, PyObject *const *args, Py_ssize_t count, PyObject *names, int *made)
{
    PyObject *items[MOST_ARGUMENTS]; /* borrowed */
    Py_ssize_t named = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    PyObject *rewritten = owner == NULL || count + named < MOST_ARGUMENTS ? rewritten_function((PyFunctionObject *)function)
                                                                          : NULL; /* owned */
    *made = rewritten != NULL || PyErr_Occurred();
    if (rewritten == NULL) {
        return NULL;
    }
    if (owner != NULL) {
        items[0] = owner;
        memcpy(items + 1, args, (size_t)(count + named) * sizeof(PyObject *));
        args = items;
        count++;
    }
    PyObject *result = vector_call(rewritten, args, count, names); /* owned, given away */
    Py_DECREF(rewritten);
    return result;
}

/* function(*args, **names) while one tape records. *made: whether the call was made here. */
static PyObject *
recorded_call(const Callees *self, PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names, int *made)
{
    if (Py_TYPE(function) == &PyFunction_Type) {
        return function_call(function, NULL, args, count, names, made);
    }
    if (Py_TYPE(function) == &PyMethod_Type && Py_TYPE(PyMethod_GET_FUNCTION(function)) == &PyFunction_Type) {
        return function_call(PyMethod_GET_FUNCTION(function), PyMethod_GET_SELF(function), args, count, names, made);
    }
    return callee_call(self, recording.only, function, args, count, names, made);
}

/* site(function, *args, **kwargs) */
static PyObject *
site_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    Callees *self = (Callees *)helper;
    if (recording.only != NULL && nargs >= 1) {
        int made;
        PyObject *result = recorded_call(self, args[0], args + 1, nargs - 1, names, &made); /* owned */
        if (made) {
            return result;
        }
    }
    return vector_call(self->other, args, nargs, names);
}

/* call(function, args) */
static PyObject *
tuple_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    Callees *self = (Callees *)helper;
    if (recording.only != NULL && nargs == 2 && PyTuple_CheckExact(args[1])) {
        int made;
        PyObject *result = recorded_call(self, args[0], &PyTuple_GET_ITEM(args[1], 0), PyTuple_GET_SIZE(args[1]), NULL,
                                         &made); /* owned */
        if (made) {
            return result;
        }
    }
    return vector_call(self->other, args, nargs, NULL);
}

/* ---- The type --------------------------------------------------------------------------------------------- */

static PyMethodDef site_definition = {"site", (PyCFunction)(void (*)(void))site_call, METH_FASTCALL | METH_KEYWORDS, NULL};
static PyMethodDef call_definition = {"call", (PyCFunction)(void (*)(void))tuple_call, METH_FASTCALL, NULL};

/* NEW reference to a helper; `args` are (rules, other). */
static PyObject *
callees_helper(PyMethodDef *definition, PyObject *args)
{
    PyObject *rules, *other; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &rules, &other)) {
        return NULL;
    }
    Callees *self = PyObject_GC_New(Callees, &Callees_Type); /* owned, then the function's */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(rules);
    self->rules = rules;
    Py_INCREF(other);
    self->other = other;
    memset(&self->at, 0, sizeof(self->at));
    PyObject_GC_Track((PyObject *)self);
    PyObject *helper = NULL; /* owned, given away */
    Py_ssize_t at = 0;
    for (; at < PyTuple_GET_SIZE(rules); at++) {
        PyObject *rule = PyTuple_GET_ITEM(rules, at); /* borrowed */
        if (Py_TYPE(rule) != &Rule_Type) {
            PyErr_Format(PyExc_TypeError, "rules must be a tuple of Rules, not of %.200s", Py_TYPE(rule)->tp_name);
            break;
        }
        PyObject *function = ((Rule *)rule)->function; /* borrowed */
        int is_method = Py_TYPE(function) == &PyMethodDescr_Type;
        const void *key = is_method ? (void *)((PyMethodDescrObject *)function)->d_method : function;
        if (pointer_map_set(&self->at, key, at) < 0) {
            break;
        }
    }
    if (at == PyTuple_GET_SIZE(rules)) {
        helper = PyCFunction_NewEx(definition, (PyObject *)self, NULL);
    }
    Py_DECREF(self);
    return helper;
}

PyObject *
helper_site(PyObject *Py_UNUSED(module), PyObject *args)
{
    return callees_helper(&site_definition, args);
}

PyObject *
helper_call(PyObject *Py_UNUSED(module), PyObject *args)
{
    return callees_helper(&call_definition, args);
}

static int
callees_traverse(Callees *self, visitproc visit, void *arg)
{
    Py_VISIT(self->rules);
    Py_VISIT(self->other);
    return 0;
}

static void
callees_dealloc(Callees *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->rules);
    Py_XDECREF(self->other);
    pointer_map_release(&self->at);
    PyObject_GC_Del(self);
}

PyTypeObject Callees_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Callees",
    .tp_basicsize = sizeof(Callees),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Calls of rewritten bytecode.",
    .tp_dealloc = (destructor)callees_dealloc,
    .tp_traverse = (traverseproc)callees_traverse,
};
