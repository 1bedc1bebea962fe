/* JitFunction: what `jit` returns. A callable around a Python function that keeps the frame hook installed
 * from the call until the function's frame is reached, and looks like the function in every other respect.
 *
 * The names in `delegated` are read from and written to the function itself, also for Python subclasses
 * (whose class dict has a __module__ and __doc__ of its own); all other attributes live in the object's own
 * dict, which starts as the function's, plus __wrapped__, as functools.update_wrapper would do.
 *
 * The call is neither counted as a level of recursion nor visible in tracebacks.
 *
 * CPython 3.8 to 3.10 do not pass the flags for vectorcall and for unbound method calls on to classes made in
 * Python. So the first object of such a class sets them, unless the class has a __call__ or __get__ of its
 * own, which must then be used. */
#include "heat.h"
#include "watch.h"
#include <structmember.h>

typedef struct {
    PyObject_HEAD
#if PY_VERSION_HEX >= 0x03080000
    vectorcallfunc vectorcall;
#endif
    PyObject *py_func;   /* owned; a function; NULL before __init__ and after clear */
    PyObject *state;     /* owned; may be NULL; for the pipeline */
    PyObject *dict;      /* owned; may be NULL */
    PyObject *weakrefs;
    Pace pace;
    Watch watch;
    Heat heat;
    char enabled;
} JitFunction;

static const char *const delegated[] = {
    "__name__", "__qualname__", "__module__", "__doc__", "__defaults__", "__kwdefaults__", "__annotations__",
    "__code__", "__globals__", "__closure__",
};
static PyObject *delegated_names;  /* owned; the same as a frozenset */
static PyObject *rebuild;          /* owned; see set_rebuild; may be NULL */

/* The wrapped function, borrowed; NULL with an exception set before __init__. */
static PyObject *
function_of(JitFunction *self)
{
    if (self->py_func == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "JitFunction.__init__ was not called");
    }
    return self->py_func;
}

#include "plain_run.h"

/* ---- Calling ------------------------------------------------------------------------------------------- */

/* The result of a call that needs no frame hook, or NULL with *how saying what is left to do. */
static inline PyObject *
function_dispatch(JitFunction *self, PyObject *py_func, const Arguments *arguments, TrialRun *run, Dispatched *how)
{
    PyObject *result = NULL;  /* owned, given away */
    run->trial = NULL;
    if (watch_is_on(&self->watch)
            && watch_call(&self->watch, &self->pace, (PyFunctionObject *)py_func, arguments) < 0) {
        *how = DISPATCH_DONE;
        return NULL;
    }
    *how = self->enabled ? dispatch_call(&self->pace, (PyFunctionObject *)py_func, arguments, run, &result)
                         : DISPATCH_PLAIN;
    return result;
}

#define MOST_KEYWORDS 32

/* As tuple_dispatch, for a call with more keywords than that has room for: the hook serves it, but it is watched. */
static PyObject *
crowded_dispatch(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs, Dispatched *how)
{
    Py_ssize_t position = 0, count = PyDict_GET_SIZE(kwargs), n = 0;
    PyObject **names = PyMem_New(PyObject *, 2 * count);  /* owned; what is in it is borrowed */
    if (names == NULL) {
        PyErr_NoMemory();
        *how = DISPATCH_DONE;
        return NULL;
    }
    while (n < count && PyDict_Next(kwargs, &position, &names[n], &names[count + n])) {
        n++;
    }
    Arguments arguments = {&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), names, names + count, n};
    int passed = !watch_is_on(&self->watch)
                 || watch_call(&self->watch, &self->pace, (PyFunctionObject *)py_func, &arguments) == 0;
    PyMem_Free(names);
    *how = passed ? DISPATCH_HOOKED : DISPATCH_DONE;
    return NULL;
}

/* As function_dispatch, for what tp_call gets. */
static PyObject *
tuple_dispatch(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs, TrialRun *run, Dispatched *how)
{
    PyObject *names[MOST_KEYWORDS], *values[MOST_KEYWORDS];  /* borrowed: they are bound before any code runs */
    Arguments arguments = {&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), names, values, 0};
    Py_ssize_t position = 0, count = kwargs != NULL ? PyDict_GET_SIZE(kwargs) : 0;

    run->trial = NULL;
    if (count > MOST_KEYWORDS) {
        return crowded_dispatch(self, py_func, args, kwargs, how);
    }
    while (count > 0 && PyDict_Next(kwargs, &position, &names[arguments.nkeywords], &values[arguments.nkeywords])) {
        arguments.nkeywords++;
    }
    return function_dispatch(self, py_func, &arguments, run, how);
}

/* A call of what is not cold, or asks at its loops; `py_func` is the function's own. */
static PyObject *
warm_call(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs)
{
    PyThreadState *tstate = PyThreadState_Get();
    Dispatched how;
    /* Whoever calls tp_call has counted a level of recursion for it, which the function alone would not cost.
     * */
    tstate->recursion_depth--;
    TrialRun run;
    PyObject *result = tuple_dispatch(self, py_func, args, kwargs, &run, &how);  /* owned, given away */
    if (how != DISPATCH_DONE) {
        HookCall call = {NULL, NULL, 0};
        JitFunction *quiet = plain_begin(self, &run);  /* owned */
        JitFunction *paced = hooked_begin(self, &call, py_func, how);  /* owned */
        result = PyObject_Call(py_func, args, kwargs);
        hooked_end(paced, &call);
        plain_end(quiet);
    }
    trial_end(&run, result != NULL);
    tstate->recursion_depth++;
    return result;
}

static PyObject *
function_call(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    PyObject *py_func = function_of(self);  /* owned: the call may drop `self` */
    if (py_func == NULL) {
        return NULL;
    }
    Py_INCREF(py_func);
    PyObject *result;  /* owned, given away */
    if (self->heat.ask == NULL) {
        result = warm_call(self, py_func, args, kwargs);
    }
    else {
        ColdCall cold;
        heat_begin(&cold, (PyObject *)self, &self->heat, py_func);
        if (heat_is_plain(&self->heat)) {
            PyThreadState_Get()->recursion_depth--;
            result = PyObject_Call(py_func, args, kwargs);
            PyThreadState_Get()->recursion_depth++;
        }
        else {
            result = warm_call(self, py_func, args, kwargs);
        }
        heat_end(&cold, &self->heat);
    }
    Py_DECREF(py_func);
    return result;
}

#if PY_VERSION_HEX >= 0x03080000
/* As warm_call. */
static inline PyObject *
warm_vectorcall(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (self->pace.rest > 0 && !watch_is_on(&self->watch)) {
        self->pace.rest--;
        return _PyFunction_Vectorcall(py_func, args, nargsf, kwnames);
    }
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    Arguments arguments = {args, nargs, NULL, args + nargs, 0};
    if (kwnames != NULL) {
        arguments.names = &PyTuple_GET_ITEM(kwnames, 0);
        arguments.nkeywords = PyTuple_GET_SIZE(kwnames);
    }
    Dispatched how;
    TrialRun run;
    PyObject *result = function_dispatch(self, py_func, &arguments, &run, &how);  /* owned, given away */
    if (how != DISPATCH_DONE) {
        HookCall call = {NULL, NULL, 0};
        JitFunction *quiet = plain_begin(self, &run);  /* owned */
        JitFunction *paced = hooked_begin(self, &call, py_func, how);  /* owned */
        result = _PyObject_Vectorcall(py_func, args, nargsf, kwnames);
        hooked_end(paced, &call);
        plain_end(quiet);
    }
    trial_end(&run, result != NULL);
    return result;
}

static PyObject *
cold_vectorcall(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    ColdCall cold;
    heat_begin(&cold, (PyObject *)self, &self->heat, py_func);
    PyObject *result = heat_is_plain(&self->heat)
                           ? _PyFunction_Vectorcall(py_func, args, nargsf, kwnames)
                           : warm_vectorcall(self, py_func, args, nargsf, kwnames);  /* owned, given away */
    heat_end(&cold, &self->heat);
    return result;
}

static PyObject *
function_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    JitFunction *self = (JitFunction *)callable;
    if (Py_TYPE(callable)->tp_call != (ternaryfunc)function_call) {
        self->vectorcall = NULL;  /* the class was given a __call__ since: it is what a call without this runs */
        return _PyObject_Vectorcall(callable, args, nargsf, kwnames);
    }
    PyObject *py_func = function_of(self);  /* owned: the call may drop `self` */
    if (py_func == NULL) {
        return NULL;
    }
    Py_INCREF(py_func);
    PyObject *result = self->heat.ask == NULL ? warm_vectorcall(self, py_func, args, nargsf, kwnames)
                                              : cold_vectorcall(self, py_func, args, nargsf, kwnames);  /* owned */
    Py_DECREF(py_func);
    return result;
}
#endif

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

/* Whether an attribute is the function's: 1, 0, or -1 with an exception set. */
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
    PyObject *py_func = function_of((JitFunction *)self);  /* borrowed */
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
    PyObject *py_func = function_of((JitFunction *)self);  /* borrowed */
    return py_func == NULL ? -1 : PyObject_SetAttr(py_func, name, value);
}

static PyObject *
function_repr(JitFunction *self)
{
    PyObject *py_func = function_of(self);  /* borrowed */
    if (py_func == NULL) {
        return NULL;
    }
    return PyUnicode_FromFormat("<jit function %U at %p>", ((PyFunctionObject *)py_func)->func_qualname,
                                self);
}

#include "function_copies.h"

/* ---- Making and freeing -------------------------------------------------------------------------------- */

#if PY_VERSION_HEX >= 0x03080000
/* Give a subclass the flags for fast calls where it calls and binds as JitFunction does. */
static void
type_set_call_flags(PyTypeObject *type)
{
    if (type->tp_call == (ternaryfunc)function_call) {
        type->tp_flags |= _Py_TPFLAGS_HAVE_VECTORCALL;
    }
    if (type->tp_descr_get == function_bind) {
        type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
    }
}
#endif

static PyObject *
function_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    JitFunction *self = (JitFunction *)type->tp_alloc(type, 0);  /* owned, given away */
    if (self != NULL) {
        self->enabled = 1;
#if PY_VERSION_HEX >= 0x03080000
        self->vectorcall = function_vectorcall;
        type_set_call_flags(type);
#endif
    }
    return (PyObject *)self;
}

/* The dict of a new JitFunction: NEW reference, or NULL with an exception set. */
static PyObject *
function_dict(PyObject *py_func)
{
    PyObject *own = ((PyFunctionObject *)py_func)->func_dict;  /* borrowed */
    PyObject *dict = own != NULL ? PyDict_Copy(own) : PyDict_New();  /* owned, given away */
    if (dict != NULL && PyDict_SetItemString(dict, "__wrapped__", py_func) < 0) {
        Py_CLEAR(dict);
    }
    return dict;
}

static int
function_init(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"py_func", "state", NULL};
    PyObject *py_func, *state = Py_None;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:JitFunction", keywords, &PyFunction_Type, &py_func,
                                     &state)) {
        return -1;
    }
    PyObject *dict = function_dict(py_func);  /* owned, given away */
    if (dict == NULL) {
        return -1;
    }
    Py_INCREF(py_func);
    Py_INCREF(state);
    Py_XSETREF(self->py_func, py_func);
    Py_XSETREF(self->state, state);
    Py_XSETREF(self->dict, dict);
    return 0;
}

static PyObject *
function_watch(JitFunction *self, PyObject *args)
{
    PyObject *before, *accepted, *check;  /* borrowed */
    if (!PyArg_ParseTuple(args, "OOO:watch", &before, &accepted, &check)
            || watch_set(&self->watch, before, accepted, check) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
function_chill(JitFunction *self, PyObject *args)
{
    PyObject *ask;  /* borrowed */
    int looping = 0;
    if (!PyArg_ParseTuple(args, "O|p:chill", &ask, &looping) || heat_set(&self->heat, ask, looping) < 0) {
        return NULL;
    }
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
     "chill(ask, looping=False)\n--\n\nRun calls as they are until ask(ns) answers None; see heat.h. None: compile now."},
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
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.JitFunction",
    .tp_basicsize = sizeof(JitFunction),
    .tp_doc = "JitFunction(py_func, state=None)\n--\n\n"
              "A Python function whose calls go through the frame hook.",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC
#if PY_VERSION_HEX >= 0x03080000
        | _Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(JitFunction, vectorcall)
#endif
    ,
    .tp_new = function_new,
    .tp_init = (initproc)function_init,
    .tp_dealloc = (destructor)function_dealloc,
    .tp_traverse = (traverseproc)function_traverse,
    .tp_clear = (inquiry)function_clear,
    .tp_call = (ternaryfunc)function_call,
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
    PyObject *names = PyList_New(0);  /* owned */
    if (names == NULL) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(delegated) / sizeof(delegated[0]); i++) {
        PyObject *name = PyUnicode_InternFromString(delegated[i]);  /* owned */
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
