/* JitFunction: the type of the objects that `jit` returns.
 *
 * It is a callable around a Python function. Its calls run linked code if there is some (hook/calls.c,
 * hidden/calls.c). In every other respect it looks like the function.
 *
 * The attributes in `delegated` are read from and written to the function itself. This also holds for Python
 * subclasses, whose class dict has a __module__ and __doc__ of its own. All other attributes are in the object's own
 * dict, which starts as a copy of the function's plus __wrapped__, as with functools.update_wrapper.
 *
 * The call is neither counted as a level of recursion nor visible in tracebacks.
 *
 * CPython 3.8 to 3.11 do not pass the flags for vectorcall and for unbound method calls on to classes made in Python.
 * So the first object of such a class sets them, unless the class has its own __call__ or __get__, which must then be
 * used. */
#include "function/jit_function.h"
#include "function/jit_function_inl.h"
#include "cpython/function_parts_inl.h"
#include "function/call_checks.h"
#include "function/tiering/cold_functions.h"
#include "function/tiering/cold_functions_inl.h"
#include "function/copies.h"
#include "function/dispatch.h"
#include <structmember.h>

static const char *const delegated[] = {"__name__",     "__qualname__",   "__module__",        "__doc__",
                                        "__defaults__", "__kwdefaults__", "__annotations__",   "__code__",
                                        "__globals__",  "__closure__",    FUNCTION_TYPE_PARAMS};
static PyObject *delegated_names; /* owned; the same names as a frozenset */

static PyObject *
function_bind(PyObject *self, PyObject *instance, PyObject *Py_UNUSED(owner))
{
    if (instance == NULL || instance == Py_None) {
        Py_INCREF(self);
        return self;
    }
    return PyMethod_New(self, instance);
}

/* ---- Attributes ---------------------------------------------------------------------------------------- */

/* Whether an attribute is delegated to the function: 1, 0, or -1 with an exception set. */
static int
name_is_delegated(PyObject *name)
{
    if (!PyUnicode_Check(name) || PyUnicode_READY(name) < 0) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (PyUnicode_GET_LENGTH(name) < 2 || PyUnicode_READ_CHAR(name, 1) != '_') {
        return 0;
    }
    return PySet_Contains(delegated_names, name);
}

static PyObject *
function_getattro(PyObject *self, PyObject *name)
{
    int found = name_is_delegated(name);
    if (found < 0) {
        return NULL;
    }
    if (!found) {
        return PyObject_GenericGetAttr(self, name);
    }
    PyObject *py_func = function_of((JitFunction *)self); /* borrowed */
    return py_func == NULL ? NULL : PyObject_GetAttr(py_func, name);
}

static int
function_setattro(PyObject *self, PyObject *name, PyObject *value)
{
    int found = name_is_delegated(name);
    if (found < 0) {
        return -1;
    }
    if (!found) {
        return PyObject_GenericSetAttr(self, name, value);
    }
    PyObject *py_func = function_of((JitFunction *)self); /* borrowed */
    return py_func == NULL ? -1 : PyObject_SetAttr(py_func, name, value);
}

static PyObject *
function_repr(JitFunction *self)
{
    PyObject *py_func = function_of(self); /* borrowed */
    if (py_func == NULL) {
        return NULL;
    }
    return PyUnicode_FromFormat("<jit function %U at %p>", ((PyFunctionObject *)py_func)->func_qualname, self);
}

/* ---- Profiling: from CPython 3.8 on objects have another vectorcall meanwhile ---------------------------- */

static JitFunction *newest; /* borrowed: one object of the ring, or NULL */

static void
ring_enter(JitFunction *self)
{
    JitFunction *next = newest != NULL ? newest : self, *previous = newest != NULL ? newest->previous : self;
    self->next = next;
    self->previous = previous;
    next->previous = previous->next = newest = self;
}

static void
ring_leave(JitFunction *self)
{
    self->next->previous = self->previous;
    self->previous->next = self->next;
    if (newest == self) {
        newest = self->next != self ? self->next : NULL;
    }
}

void
jit_functions_reroute(void)
{
    JitFunction *one = newest;
    do {
        if (one != NULL) {
            VECTORCALL_REPLACE(one, calls_profiled ? profiled_vectorcall : jit_function_vectorcall);
        }
    } while (one != NULL && (one = one->next) != newest);
}

/* ---- Making and freeing -------------------------------------------------------------------------------- */

/* Give a subclass the flags for fast calls, if it calls and binds as JitFunction does. */
static void
type_set_call_flags(PyTypeObject *type)
{
    if (type->tp_call == (ternaryfunc)jit_function_call) {
        type->tp_flags |= VECTORCALL_FLAG;
    }
    if (type->tp_descr_get == function_bind) {
        type->tp_flags |= METHOD_DESCRIPTOR_FLAG;
    }
}

static PyObject *
function_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    JitFunction *self = (JitFunction *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        self->enabled = 1;
        VECTORCALL_SET(self, calls_profiled ? profiled_vectorcall : jit_function_vectorcall);
        type_set_call_flags(type);
        ring_enter(self);
    }
    return (PyObject *)self;
}

/* The dict of a new JitFunction: NEW reference, or NULL with an exception set. */
static PyObject *
function_dict(PyObject *py_func)
{
    PyObject *own = ((PyFunctionObject *)py_func)->func_dict;       /* borrowed */
    PyObject *dict = own != NULL ? PyDict_Copy(own) : PyDict_New(); /* owned, given away */
    if (dict != NULL && PyDict_SetItemString(dict, "__wrapped__", py_func) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

static int
function_init(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"py_func", "state", NULL};
    PyObject *py_func, *state = Py_None; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:JitFunction", keywords, &PyFunction_Type, &py_func, &state)) {
        return -1;
    }
    PyObject *dict = function_dict(py_func); /* owned, given away */
    if (dict == NULL) {
        return -1;
    }
    Py_INCREF(py_func);
    Py_INCREF(state);
    Py_XSETREF(self->py_func, py_func);
    Py_XSETREF(self->state, state);
    Py_XSETREF(self->dict, dict);
    Py_CLEAR(self->kept);
    return 0;
}

static PyObject *
function_watch(JitFunction *self, PyObject *args)
{
    PyObject *before, *accepted, *check; /* borrowed */
    if (!PyArg_ParseTuple(args, "OOO:watch", &before, &accepted, &check)
        || watch_set(&self->watch, before, accepted, check) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
function_chill(JitFunction *self, PyObject *args)
{
    PyObject *ask; /* borrowed */
    int looping = 0;
    if (!PyArg_ParseTuple(args, "O|p:chill", &ask, &looping) || heat_set(&self->heat, ask, looping) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
function_forget_linked(JitFunction *self, PyObject *Py_UNUSED(unused))
{
    Py_CLEAR(self->kept);
    Py_RETURN_NONE;
}

static PyObject *
function_heat(JitFunction *self, void *Py_UNUSED(closure))
{
    return PyLong_FromLongLong((long long)heat_so_far(&self->heat));
}

static int
function_traverse(JitFunction *self, visitproc visit, void *arg)
{
    Py_VISIT(self->py_func);
    Py_VISIT(self->state);
    Py_VISIT(self->dict);
    Py_VISIT(self->watch.before);
    Py_VISIT(self->watch.accepted);
    Py_VISIT(self->watch.check);
    Py_VISIT(self->heat.ask);
    Py_VISIT(self->kept);
    return 0;
}

static int
function_clear(JitFunction *self)
{
    Py_CLEAR(self->py_func);
    Py_CLEAR(self->state);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->watch.before);
    Py_CLEAR(self->watch.check);
    Py_CLEAR(self->heat.ask);
    Py_CLEAR(self->watch.accepted);
    Py_CLEAR(self->kept);
    return 0;
}

static void
function_dealloc(JitFunction *self)
{
    PyObject_GC_UnTrack(self);
    if (self->weakrefs != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    function_clear(self);
    ring_leave(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMethodDef function_methods[] = {
    {"__reduce__", (PyCFunction)function_reduce, METH_NOARGS, NULL},
    {"__copy__", function_copy, METH_NOARGS, NULL},
    {"__deepcopy__", function_copy, METH_O, NULL},
    {"watch", (PyCFunction)function_watch, METH_VARARGS,
     "watch(before, accepted, check)\n--\n\nCall these before each call: before() says whether it has forgotten entries; "
     "check(args, kwargs) where no entry of accepted serves. None: nothing."},
    {"chill", (PyCFunction)function_chill, METH_VARARGS,
     "chill(ask, looping=False)\n--\n\nRun calls as they are until ask(ns) answers None. None: compile now."},
    {"forget_linked", (PyCFunction)function_forget_linked, METH_NOARGS,
     "forget_linked()\n--\n\nDrop the linked code that is kept here for the next calls."},
    {NULL},
};

static PyMemberDef function_members[] = {
    {"py_func", T_OBJECT_EX, offsetof(JitFunction, py_func), READONLY, "The Python function itself."},
    {"state", T_OBJECT, offsetof(JitFunction, state), 0, "What the compiler keeps for this function."},
    {"enabled", T_BOOL, offsetof(JitFunction, enabled), 0, "False: calls run the Python function as it is."},
    {NULL},
};

static PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"heat", (getter)function_heat, NULL, "Nanoseconds in calls while it was cold.", NULL},
    {NULL},
};

PyTypeObject JitFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.JitFunction",
    VECTORCALL_LAYOUT(JitFunction),
    .tp_doc = "JitFunction(py_func, state=None)\n--\n\n"
              "A Python function whose calls run linked code where there is some.",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | VECTORCALL_FLAG | METHOD_DESCRIPTOR_FLAG,
    .tp_new = function_new,
    .tp_init = (initproc)function_init,
    .tp_dealloc = (destructor)function_dealloc,
    .tp_traverse = (traverseproc)function_traverse,
    .tp_clear = (inquiry)function_clear,
    .tp_call = (ternaryfunc)jit_function_call,
    .tp_descr_get = function_bind,
    .tp_getattro = function_getattro,
    .tp_setattro = function_setattro,
    .tp_repr = (reprfunc)function_repr,
    .tp_methods = function_methods,
    .tp_members = function_members,
    .tp_getset = function_getset,
    .tp_dictoffset = offsetof(JitFunction, dict),
    .tp_weaklistoffset = offsetof(JitFunction, weakrefs),
};

int
function_type_ready(void)
{
    PyObject *names = PyList_New(0); /* owned */
    if (names == NULL) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(delegated) / sizeof(delegated[0]); i++) {
        PyObject *name = PyUnicode_InternFromString(delegated[i]); /* owned */
        if (name == NULL || PyList_Append(names, name) < 0) {
            Py_XDECREF(name);
            Py_DECREF(names);
            return -1;
        }
        Py_DECREF(name);
    }
    delegated_names = PyFrozenSet_New(names);
    Py_DECREF(names);
    return delegated_names == NULL ? -1 : PyType_Ready(&JitFunction_Type);
}
