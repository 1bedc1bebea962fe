#include "tape/rule.h"
#include <structmember.h>

static PyObject *
rule_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"function", "partials", "vjp", "operands", "singular", "holomorphic", NULL};
    PyObject *function, *partials, *vjp; /* borrowed */
    int operands, singular, holomorphic;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!Oipp:Rule", names, &function, &PyTuple_Type, &partials, &vjp, &operands,
                                     &singular, &holomorphic)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(partials) > MOST_OPERANDS || operands < 0 || operands > MOST_OPERANDS) {
        return PyErr_Format(PyExc_ValueError, "Rule: at most %d operands can get adjoints", MOST_OPERANDS);
    }
    Rule *self = (Rule *)type->tp_alloc(type, 0); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(function);
    self->function = function;
    Py_INCREF(partials);
    self->partials = partials;
    if (vjp != Py_None) {
        Py_INCREF(vjp);
        self->vjp = vjp;
    }
    self->operands = operands;
    self->singular = (char)singular;
    self->holomorphic = (char)holomorphic;
    return (PyObject *)self;
}

static int
rule_traverse(Rule *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->partials);
    Py_VISIT(self->vjp);
    return 0;
}

static void
rule_dealloc(Rule *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->function);
    Py_XDECREF(self->partials);
    Py_XDECREF(self->vjp);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef rule_members[] = {
    {"function", T_OBJECT_EX, offsetof(Rule, function), READONLY, "What the program calls."},
    {"partials", T_OBJECT_EX, offsetof(Rule, partials), READONLY, "Functions of (g, r, *operands) for one adjoint each."},
    {"vjp", T_OBJECT, offsetof(Rule, vjp), READONLY, "A function of (g, r, *operands) for all adjoints, or None."},
    {"operands", T_INT, offsetof(Rule, operands), READONLY, "The number of leading operands that get adjoints."},
    {"singular", T_BOOL, offsetof(Rule, singular), READONLY, "Where g is 0, the contribution is 0."},
    {"holomorphic", T_BOOL, offsetof(Rule, holomorphic), READONLY, "The partials get conjugates of complex operands."},
    {NULL},
};

/* Like a tuple it has all its references from construction on, so it needs no tp_clear. */
PyTypeObject Rule_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Rule",
    .tp_basicsize = sizeof(Rule),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Rule(function, partials, vjp, operands, singular, holomorphic)\n--\n\nThe derivative of a function.",
    .tp_new = rule_new,
    .tp_dealloc = (destructor)rule_dealloc,
    .tp_traverse = (traverseproc)rule_traverse,
    .tp_members = rule_members,
};
