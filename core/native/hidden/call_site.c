/* Call sites: calls from linked code to functions that are compiled on their own (callees.h).
 *
 * A call has an empty slot beside its callable. Linked code puts a CallSite there, so CPython calls the site with the
 * callable as its first argument. The site looks for the Callee of that function and asks its cache. It runs the
 * entry found there, or calls the callable. Other calls of the function are not affected.
 *
 * The callable may also be a method of such a function, or an object whose class has the function as `__call__`. It
 * may be a class that has it as `__init__` and makes objects as `object` does. Calls with a tuple of arguments have no
 * empty slot; they get a bound method of the site. */
#include "hidden/call_site.h"
#include "function/callees.h"
#include "function/callees_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/marks_inl.h"
#include "hidden/hidden.h"
#include "hidden/served_inl.h"
#include <stddef.h>

static PyObject *name_init, *name_call, *no_arguments; /* owned: "__init__", "__call__", (); set by site_names */

int
site_names(void)
{
    name_init = PyUnicode_InternFromString("__init__");
    name_call = PyUnicode_InternFromString("__call__");
    no_arguments = PyTuple_New(0);
    return name_init != NULL && name_call != NULL && no_arguments != NULL ? 0 : -1;
}

/* The Callee of a function at a site: owned; NULL: none. */
static Callee *
site_callee(CallSite *site, PyFunctionObject *function)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* borrowed from the function */
    PyThreadState *tstate = PyThreadState_Get();
    if (thread_is_off() || thread_is_traced(tstate) || (code->co_flags & GENERATOR_FLAGS)) {
        return NULL;
    }
    int is_known;
    Callee *callee = site_know(site, code_extra_get(code), &is_known); /* owned, given away */
    if (!is_known && site_may_ask(site)) {
        callee = site_ask(site, code, function->func_globals);
    }
    if (callee != NULL && code_is_monitored(tstate, code)) {
        Py_CLEAR(callee);
    }
    return callee;
}

/* Select how a call runs; `served` is filled. */
static Py_NO_INLINE Dispatched
site_begin(CallSite *site, PyFunctionObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames, Served *served)
{
    served_begin(served);
    site->in_vain = 0;
    if (!site_is_live(site)) {
        return DISPATCH_PLAIN;
    }
    Callee *callee = site_callee(site, function); /* owned */
    if (callee == NULL) {
        return DISPATCH_PLAIN;
    }
    Mark mark = {marks.guards, callee->cache, callee->on_miss};
    Pace pace = {0, 0, 0};
    Arguments arguments = vector_arguments(args, nargsf, kwnames);
    const Shape *shape = shape_of((PyCodeObject *)function->func_code);
    Dispatched how = shape != NULL ? dispatch_mark(PyThreadState_Get(), &mark, shape, &pace, function, &arguments, served)
                                   : DISPATCH_DONE;
    callee->idle = served->original ? callee->idle + 1 : 0;
    if (callee->idle == IDLE_LIMIT) {
        paused_tell(callee->on_idle, PyTuple_New(0), function->func_code);
    }
    Py_DECREF(callee);
    return how;
}

/* A call of a function through a site. */
static PyObject *
site_function(CallSite *site, PyObject *function, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Served served;
    Dispatched how = site_begin(site, (PyFunctionObject *)function, args, nargsf, kwnames, &served);
    PyObject *result = served.result; /* owned, given away */
    if (how == DISPATCH_LINKED) {
        result = record_run(served.record, NULL, (PyFunctionObject *)function, args, nargsf, kwnames);
    }
    else if (how == DISPATCH_PLAIN) {
        result = PyObject_Vectorcall(function, args, nargsf, kwnames);
    }
    timing_end(&served.run, result != NULL);
    return result;
}

/* A call of a function with `owner` as first argument, in the place of args[0]. */
static PyObject *
site_prepend(CallSite *site, PyObject *function, PyObject *owner, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t count = nargs + (kwnames != NULL ? PyTuple_GET_SIZE(kwnames) : 0);
    PyObject **given = PyMem_New(PyObject *, count); /* owned; the items are borrowed: the caller has all of them */
    if (given == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(given, args, count * sizeof(PyObject *));
    given[0] = owner;
    PyObject *result = site_function(site, function, given, nargs, kwnames); /* owned, given away */
    PyMem_Free(given);
    return result;
}

/* A call of a bound method of a Python function: args[0] is the method, and is replaced by its object. */
static PyObject *
site_method(CallSite *site, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    return site_prepend(site, PyMethod_GET_FUNCTION(args[0]), PyMethod_GET_SELF(args[0]), args, nargs, kwnames);
}

/* The Python function that a class has as attribute `name`: owned; NULL: none. */
static PyObject *
class_function(PyTypeObject *type, PyObject *name)
{
    PyObject *found = _PyType_Lookup(type, name); /* borrowed */
    return found != NULL && Py_TYPE(found) == &PyFunction_Type ? Py_NewRef(found) : NULL;
}

/* The Python `__init__` of a class whose objects object.__new__ makes: owned; NULL: `callable` is no such class. */
static PyObject *
class_init(PyObject *callable)
{
    PyTypeObject *kind = (PyTypeObject *)callable;
    if (Py_TYPE(callable) != &PyType_Type || kind->tp_new != PyBaseObject_Type.tp_new || kind->tp_vectorcall != NULL) {
        return NULL;
    }
    return class_function(kind, name_init);
}

/* A call of a class whose `__init__` is a Python function; args[0] is the class. */
static PyObject *
site_make(CallSite *site, PyObject *init, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyTypeObject *kind = (PyTypeObject *)args[0];
    PyObject *made = kind->tp_new(kind, no_arguments, NULL); /* owned, given away */
    if (made == NULL) {
        return NULL;
    }
    PyObject *result = site_prepend(site, init, made, args, nargs, kwnames); /* owned */
    if (result != NULL && result != Py_None) {
        PyErr_Format(PyExc_TypeError, "__init__() should return None, not '%.200s'", Py_TYPE(result)->tp_name);
    }
    if (result != Py_None) {
        Py_CLEAR(made);
    }
    Py_XDECREF(result);
    return made;
}

/* A call of an object that runs no Python function. More than IDLE_LIMIT such calls in a row close an open site. */
static PyObject *
site_other(CallSite *site, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    if (site->find != NULL && ++site->in_vain > IDLE_LIMIT) {
        Py_CLEAR(site->find);
    }
    return PyObject_Vectorcall(args[0], args + 1, (nargs - 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, kwnames);
}

/* The Python `__call__` of an object's class: owned; NULL: none, or its calls do not run it. */
static PyObject *
object_call(PyObject *callable)
{
    PyTypeObject *kind = Py_TYPE(callable);
    return PyType_HasFeature(kind, Py_TPFLAGS_HAVE_VECTORCALL) ? NULL : class_function(kind, name_call);
}

/* A call of a class, or of an object whose class has a `__call__`; args[0] is the callable. */
static PyObject *
site_object(CallSite *site, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *init = class_init(args[0]), *result;               /* both owned; NULL: none */
    PyObject *call = init == NULL ? object_call(args[0]) : NULL; /* owned; NULL: none */
    if (init != NULL) {
        result = site_make(site, init, args, nargs, kwnames);
    }
    else if (call != NULL) {
        result = site_function(site, call, args, nargs, kwnames);
    }
    else {
        result = site_other(site, args, nargs, kwnames);
    }
    Py_XDECREF(init);
    Py_XDECREF(call);
    return result;
}

/* The call takes no more of the recursion limits than a call without the site. */
PyObject *
site_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    CallSite *site = (CallSite *)self;
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    if (nargs == 0) {
        PyErr_SetString(PyExc_TypeError, "a site is called with what it is to call");
        return NULL;
    }
    if (stack_ends()) {
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    PyObject *callable = args[0], *result; /* borrowed; owned, given away */
    thread_refund_entry(tstate);
    if (Py_TYPE(callable) == &PyFunction_Type) {
        result = site_function(site, callable, args + 1, (nargs - 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, kwnames);
    }
    else if (Py_TYPE(callable) == &PyMethod_Type && Py_TYPE(PyMethod_GET_FUNCTION(callable)) == &PyFunction_Type) {
        result = site_method(site, args, nargs, kwnames);
    }
    else {
        result = site_object(site, args, nargs, kwnames);
    }
    thread_charge_entry(tstate);
    return result;
}

static PyObject *
site_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    Py_INCREF(self);
    return self;
}

/* Whether a call of an object runs a Python function that a site can serve. */
static int
runs_function(PyObject *callable)
{
    if (Py_TYPE(callable) == &PyFunction_Type || Py_TYPE(callable) == &PyMethod_Type) {
        return 1;
    }
    PyObject *init = class_init(callable);                        /* owned; NULL: none */
    PyObject *call = init == NULL ? object_call(callable) : NULL; /* owned; NULL: none */
    int runs = init != NULL || call != NULL;
    Py_XDECREF(init);
    Py_XDECREF(call);
    return runs;
}

/* bound(callable, arguments): the object to call with these arguments, a bound method of the site. It is the callable
 * itself if that runs no Python function, or if CPython has to report an error in the arguments. */
static PyObject *
site_bound(PyObject *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2) {
        PyErr_SetString(PyExc_TypeError, "bound takes a callable and its arguments");
        return NULL;
    }
    int iterable = Py_TYPE(args[1])->tp_iter != NULL || PySequence_Check(args[1]); /* else CPython raises */
    return iterable && runs_function(args[0]) ? PyMethod_New(self, args[0]) : Py_NewRef(args[0]);
}

static PyMethodDef site_methods[] = {
    {"bound", (PyCFunction)(void (*)(void))site_bound, METH_FASTCALL, "What linked code calls with a tuple of arguments."},
    {NULL},
};

static PyGetSetDef site_getset[] = {
    {"open", (getter)site_get_open, NULL, "Whether functions that the site has not met are asked about.", NULL},
    {"callable", site_get_callable, NULL, "What linked code calls, with what it is to call in front.", NULL},
    {NULL},
};

PyTypeObject CallSite_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.CallSite",
    .tp_basicsize = sizeof(CallSite),
    .tp_doc = "CallSite(callees, find=None)\n--\n\n"
              "A place in linked code where one of some Callees, or one that find(code, globals) answers, may be called.",
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(CallSite, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = site_new,
    .tp_dealloc = (destructor)site_dealloc,
    .tp_getset = site_getset,
    .tp_methods = site_methods,
};

PyObject *
site_bind(PyObject *Py_UNUSED(module), PyObject *pair)
{
    if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "bind takes a tuple of two items");
        return NULL;
    }
    PyObject *first = PyTuple_GET_ITEM(pair, 0), *second = PyTuple_GET_ITEM(pair, 1); /* borrowed; NULL: empty */
    if (first != NULL && second != NULL) {
        return PyMethod_New(first, second);
    }
    PyObject *callable = first != NULL ? first : second; /* borrowed, then the result */
    if (callable == NULL) {
        PyErr_SetString(PyExc_TypeError, "bind takes a tuple with a callable");
        return NULL;
    }
    Py_INCREF(callable);
    return callable;
}
