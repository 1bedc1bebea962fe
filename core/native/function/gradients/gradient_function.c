/* GradientFunction: the base of gradient functions, on all versions.
 *
 * A call asks `usual` first (gradient_call.c). All other calls go to the method `_call` of the subclass. It gets the
 * arguments, the keywords, and the answer of `usual` if an entry has raised. */
#include "function/gradients/gradient_function.h"
#include "function/gradients/gradient_call.h"

typedef struct {
    PyObject_HEAD
    PyObject *usual; /* owned; a GradientCall, or NULL */
    CallProfile profile;
} GradientFunction;

const CallProfile *
gradient_function_profile(PyObject *function)
{
    return &((GradientFunction *)function)->profile;
}

static PyObject *
plain_call(GradientFunction *self, PyObject *args, PyObject *kwargs)
{
    PyObject *usual = self->usual, *answer = NULL; /* owned: the call may set another one */
    if (usual != NULL && (kwargs == NULL || PyDict_GET_SIZE(kwargs) == 0)) {
        Py_INCREF(usual);
        Answered answered = gradient_call_answer(usual, args, &answer);
        Py_DECREF(usual);
        if (answered == ANSWERED || answered == ANSWER_FAILED) {
            return answer;
        }
    }
    PyObject *keywords = kwargs != NULL ? kwargs : PyDict_New(); /* owned, or borrowed kwargs */
    PyObject *result = NULL;                                     /* owned, given away */
    if (keywords != NULL) {
        result = PyObject_CallMethod((PyObject *)self, "_call", "OOO", args, keywords, answer != NULL ? answer : Py_None);
    }
    if (keywords != kwargs) {
        Py_XDECREF(keywords);
    }
    Py_XDECREF(answer);
    return result;
}

static PyObject *
function_call(GradientFunction *self, PyObject *args, PyObject *kwargs)
{
    ProfiledCall call = {.function = NULL};
    if (calls_profiled) {
        profiled_call_begin(&call, (PyObject *)self, &self->profile);
    }
    PyObject *result = plain_call(self, args, kwargs); /* owned, given away */
    profiled_call_end(&call);
    return result;
}

static PyObject *
usual_get(GradientFunction *self, void *Py_UNUSED(closure))
{
    PyObject *usual = self->usual != NULL ? self->usual : Py_None; /* borrowed */
    Py_INCREF(usual);
    return usual;
}

static int
usual_set(GradientFunction *self, PyObject *value, void *Py_UNUSED(closure))
{
    if (value != NULL && value != Py_None && Py_TYPE(value) != &GradientCall_Type) {
        PyErr_Format(PyExc_TypeError, "usual must be a GradientCall or None, not %.200s", Py_TYPE(value)->tp_name);
        return -1;
    }
    if (value == Py_None) {
        value = NULL;
    }
    Py_XINCREF(value);
    Py_XSETREF(self->usual, value);
    return 0;
}

static int
function_traverse(GradientFunction *self, visitproc visit, void *arg)
{
    Py_VISIT(self->usual);
    return 0;
}

static int
function_clear(GradientFunction *self)
{
    Py_CLEAR(self->usual);
    return 0;
}

static void
function_dealloc(GradientFunction *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->usual);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyGetSetDef function_getset[] = {
    {"usual", (getter)usual_get, (setter)usual_set, "What calls ask first, or None.", NULL},
    {NULL},
};

PyTypeObject GradientFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.GradientFunction",
    .tp_basicsize = sizeof(GradientFunction),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "GradientFunction()\n--\n\nThe base of gradient functions.",
    .tp_new = PyType_GenericNew,
    .tp_dealloc = (destructor)function_dealloc,
    .tp_traverse = (traverseproc)function_traverse,
    .tp_clear = (inquiry)function_clear,
    .tp_call = (ternaryfunc)function_call,
    .tp_getset = function_getset,
};
