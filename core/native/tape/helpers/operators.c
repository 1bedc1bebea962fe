/* Helpers for operators: binary, in-place and unary ones, and comparisons. */
#include "tape/helpers/helpers.h"
#include "cpython/vectorcall/vectorcall_inl.h"
#include "tape/recording.h"
#include "tape/values_inl.h"

typedef PyObject *(*Apply)(PyObject *, PyObject *);

typedef struct {
    PyObject_HEAD
    Apply apply;      /* the operator */
    Apply in_place;   /* the operator for an array on the left; NULL: no in-place operator */
    int operands;     /* 1 or 2 */
    Rule *rule;       /* owned; NULL: Python records it */
    PyObject *powers; /* owned; for `**`: a dict of exponent to the Rule of the function that NumPy calls; or NULL */
    PyObject *other;  /* owned: the helper in Python */
} Operator;

#define COMPARISON(name, op) \
    static PyObject *name(PyObject *a, PyObject *b) \
    { \
        return PyObject_RichCompare(a, b, op); \
    }
COMPARISON(less, Py_LT)
COMPARISON(less_equal, Py_LE)
COMPARISON(greater, Py_GT)
COMPARISON(greater_equal, Py_GE)
COMPARISON(equal, Py_EQ)
COMPARISON(not_equal, Py_NE)

static PyObject *
power(PyObject *a, PyObject *b)
{
    return PyNumber_Power(a, b, Py_None);
}

static PyObject *
negative(PyObject *a, PyObject *Py_UNUSED(none))
{
    return PyNumber_Negative(a);
}

static PyObject *
positive(PyObject *a, PyObject *Py_UNUSED(none))
{
    return PyNumber_Positive(a);
}

/* The operators by the names of their functions in the module operator. */
static const struct {
    const char *name;
    Apply apply, in_place;
    int operands;
} operators[] = {
    {"add", PyNumber_Add, NULL, 2},
    {"sub", PyNumber_Subtract, NULL, 2},
    {"mul", PyNumber_Multiply, NULL, 2},
    {"truediv", PyNumber_TrueDivide, NULL, 2},
    {"floordiv", PyNumber_FloorDivide, NULL, 2},
    {"mod", PyNumber_Remainder, NULL, 2},
    {"pow", power, NULL, 2},
    {"matmul", PyNumber_MatrixMultiply, NULL, 2},
    {"and_", PyNumber_And, NULL, 2},
    {"or_", PyNumber_Or, NULL, 2},
    {"xor", PyNumber_Xor, NULL, 2},
    {"lshift", PyNumber_Lshift, NULL, 2},
    {"rshift", PyNumber_Rshift, NULL, 2},
    {"lt", less, NULL, 2},
    {"le", less_equal, NULL, 2},
    {"gt", greater, NULL, 2},
    {"ge", greater_equal, NULL, 2},
    {"eq", equal, NULL, 2},
    {"ne", not_equal, NULL, 2},
    {"neg", negative, NULL, 1},
    {"pos", positive, NULL, 1},
    {"iadd", PyNumber_InPlaceAdd, PyNumber_InPlaceAdd, 2},
    {"isub", PyNumber_InPlaceSubtract, PyNumber_InPlaceSubtract, 2},
    {"imul", PyNumber_InPlaceMultiply, PyNumber_InPlaceMultiply, 2},
    {"itruediv", PyNumber_InPlaceTrueDivide, PyNumber_InPlaceTrueDivide, 2},
    {NULL, NULL, NULL, 0},
};

/* ---- Calls ------------------------------------------------------------------------------------------------ */

/* The rule of an operation: for a power of an array with a constant exponent, that of the function that NumPy calls
 * instead. *count is the number of operands of the rule. Borrowed; NULL: none, or an exception is set. */
static Rule *
rule_for(const Operator *self, PyObject *const *args, unsigned marks, Py_ssize_t *count)
{
    *count = self->operands;
    if (self->powers == NULL || (marks & 2) || !PyArray_CheckExact(args[0])
        || !(PyFloat_CheckExact(args[1]) || PyLong_CheckExact(args[1]))
        || !(PyArray_ISFLOAT((PyArrayObject *)args[0]) || PyArray_ISCOMPLEX((PyArrayObject *)args[0]))) {
        return self->rule;
    }
    PyObject *found = PyDict_GetItemWithError(self->powers, args[1]); /* borrowed */
    if (found == NULL) {
        return PyErr_Occurred() ? NULL : self->rule;
    }
    *count = 1;
    return (Rule *)found;
}

/* `a += b` for an array on the left. */
static PyObject *
update(Operator *self, Tape *tape, PyObject *const *args)
{
    PyObject *part = record_frozen(args[0]); /* owned, then the record's */
    Record record;
    int begun = part != NULL ? recording_store_begin(tape, self->rule, (PyArrayObject *)part, args, 2, &record) : -1;
    if (begun <= 0) {
        return begun < 0 ? NULL : vector_call(self->other, args, 2, NULL);
    }
    PyObject *result = self->in_place(args[0], args[1]); /* owned, given away */
    if (recording_store_end(tape, &record, result != NULL) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* An operator on plain values on one tape. */
static PyObject *
operator_record(Operator *self, Tape *tape, PyObject *const *args)
{
    Py_ssize_t count;
    int marks = recording_marks(tape, args, self->operands);
    if (marks <= 0) {
        return marks < 0 ? NULL : self->apply(args[0], self->operands == 2 ? args[1] : NULL);
    }
    Rule *rule = rule_for(self, args, (unsigned)marks, &count); /* borrowed */
    if (rule == NULL) {
        return PyErr_Occurred() ? NULL : vector_call(self->other, args, self->operands, NULL);
    }
    PyObject *result = self->apply(args[0], self->operands == 2 ? args[1] : NULL); /* owned, then taken over */
    Operation operation = {rule, args, count, NULL, (unsigned)marks};
    return result != NULL ? recording_result(tape, &operation, result) : NULL;
}

static PyObject *
operator_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    Operator *self = (Operator *)helper;
    Tape *tape = recording.only; /* owned: code that warnings run may end the recording */
    if (nargs != self->operands) {
        return vector_call(self->other, args, nargs, NULL); /* which raises TypeError */
    }
    if (recording.count == 0) {
        return self->apply(args[0], nargs == 2 ? args[1] : NULL);
    }
    if (tape == NULL || !is_plain(args[0]) || (nargs == 2 && !is_plain(args[1]))) {
        return vector_call(self->other, args, nargs, NULL);
    }
    Py_INCREF(tape);
    PyObject *result = self->in_place != NULL && PyArray_CheckExact(args[0])
                           ? update(self, tape, args)
                           : operator_record(self, tape, args); /* owned, given away */
    Py_DECREF(tape);
    return result;
}

static PyMethodDef operator_definitions[] = {
    {"operator", (PyCFunction)(void (*)(void))operator_call, METH_FASTCALL, NULL},
};

/* ---- The type --------------------------------------------------------------------------------------------- */

PyObject *
helper_operator(PyObject *Py_UNUSED(module), PyObject *args)
{
    const char *name;
    PyObject *rule, *powers, *other; /* borrowed */
    if (!PyArg_ParseTuple(args, "sOOO:operator_helper", &name, &rule, &powers, &other)) {
        return NULL;
    }
    if ((rule != Py_None && Py_TYPE(rule) != &Rule_Type) || (powers != Py_None && !PyDict_CheckExact(powers))) {
        PyErr_SetString(PyExc_TypeError, "operator_helper: rule must be a Rule or None, powers a dict or None");
        return NULL;
    }
    int at = 0;
    while (operators[at].name != NULL && strcmp(operators[at].name, name) != 0) {
        at++;
    }
    if (operators[at].name == NULL) {
        return PyErr_Format(PyExc_ValueError, "operator_helper: there is no operator %s", name);
    }
    Operator *self = PyObject_GC_New(Operator, &Operator_Type); /* owned, then the function's */
    if (self == NULL) {
        return NULL;
    }
    self->apply = operators[at].apply;
    self->in_place = operators[at].in_place;
    self->operands = operators[at].operands;
    self->rule = rule != Py_None ? (Rule *)rule : NULL;
    self->powers = powers != Py_None ? powers : NULL;
    self->other = other;
    Py_XINCREF(self->rule);
    Py_XINCREF(self->powers);
    Py_INCREF(other);
    PyObject_GC_Track((PyObject *)self);
    PyObject *helper = PyCFunction_NewEx(operator_definitions, (PyObject *)self, NULL); /* owned, given away */
    Py_DECREF(self);
    return helper;
}

static int
operator_traverse(Operator *self, visitproc visit, void *arg)
{
    Py_VISIT(self->rule);
    Py_VISIT(self->powers);
    Py_VISIT(self->other);
    return 0;
}

static void
operator_dealloc(Operator *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->rule);
    Py_XDECREF(self->powers);
    Py_XDECREF(self->other);
    PyObject_GC_Del(self);
}

PyTypeObject Operator_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Operator",
    .tp_basicsize = sizeof(Operator),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "An operator of rewritten bytecode.",
    .tp_dealloc = (destructor)operator_dealloc,
    .tp_traverse = (traverseproc)operator_traverse,
};
