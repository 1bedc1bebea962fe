/* Calls of a JitFunction from CPython 3.11 on.
 *
 * A running call takes little C stack for each level of recursion: the preparation is done in functions that have
 * returned by then. A call takes no more of the recursion limits than a call of the function itself. */
#include "function/call_checks.h"
#include "function/call_checks_inl.h"
#include "function/tiering/cold_functions.h"
#include "function/tiering/cold_functions_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/jit_function.h"
#include "function/jit_function_inl.h"
#include "hidden/hidden.h"
#include "hidden/served_inl.h"

/* Select how a call runs. `served` is filled. */
static Py_NO_INLINE Dispatched
call_begin(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames, Served *served)
{
    Arguments arguments = vector_arguments(args, nargsf, kwnames);
    served_begin(served);
    if (watch_is_on(&self->watch) && watch_call(&self->watch, &self->pace, (PyFunctionObject *)py_func, &arguments) < 0) {
        return DISPATCH_DONE;
    }
    return self->enabled ? dispatch_call(&self->pace, (PyFunctionObject *)py_func, &arguments, served) : DISPATCH_PLAIN;
}

/* A call of a function that is not cold, or that asks at its loops. `py_func` is the Python function. */
static PyObject *
warm_vectorcall(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (self->pace.rest > 0 && !watch_is_on(&self->watch)) {
        self->pace.rest--;
        return PyObject_Vectorcall(py_func, args, nargsf, kwnames);
    }
    Served served;
    Dispatched how = call_begin(self, py_func, args, nargsf, kwnames, &served);
    PyObject *result = served.result; /* owned, given away */
    if (how == DISPATCH_LINKED) {
        result = record_run(served.record, &self->kept, (PyFunctionObject *)py_func, args, nargsf, kwnames);
    }
    else if (how == DISPATCH_PLAIN) {
        JitFunction *quiet = plain_begin(self, &served.run); /* owned */
        result = PyObject_Vectorcall(py_func, args, nargsf, kwnames);
        plain_end(quiet);
    }
    timing_end(&served.run, result != NULL);
    return result;
}

static Py_NO_INLINE PyObject *
cold_vectorcall(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    ColdCall cold;
    heat_begin(&cold, (PyObject *)self, &self->heat, py_func);
    PyObject *result = heat_is_plain(&self->heat)
                           ? PyObject_Vectorcall(py_func, args, nargsf, kwnames)
                           : warm_vectorcall(self, py_func, args, nargsf, kwnames); /* owned, given away */
    heat_end(&cold, &self->heat);
    return result;
}

/* NEW reference, or NULL with an exception set. */
static PyObject *
function_run(JitFunction *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    PyObject *py_func = function_of(self); /* owned: the call may drop `self` */
    if (py_func == NULL || stack_ends()) {
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    Py_INCREF(py_func);
    thread_refund_entry(tstate);
    PyObject *result = self->heat.ask == NULL ? warm_vectorcall(self, py_func, args, nargsf, kwnames)
                                              : cold_vectorcall(self, py_func, args, nargsf, kwnames); /* owned */
    thread_charge_entry(tstate);
    Py_DECREF(py_func);
    return result;
}

PyObject *
jit_function_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    JitFunction *self = (JitFunction *)callable;
    if (Py_TYPE(callable)->tp_call != (ternaryfunc)jit_function_call) {
        self->vectorcall = NULL; /* the class has got a __call__ since; a call without vectorcall runs that */
        return PyObject_Vectorcall(callable, args, nargsf, kwnames);
    }
    return function_run(self, args, nargsf, kwnames);
}

/* As function_run, with keyword arguments. */
static PyObject *
keywords_run(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    Py_ssize_t nargs = PyTuple_GET_SIZE(args), count = PyDict_GET_SIZE(kwargs), position = 0, n = 0;
    PyObject *names = PyTuple_New(count);                     /* owned */
    PyObject **values = PyMem_New(PyObject *, nargs + count); /* owned; the items are owned */
    PyObject *result = NULL, *name, *value;                   /* owned, given away; borrowed */
    if (names == NULL || values == NULL) {
        Py_XDECREF(names);
        PyMem_Free(values);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < nargs; i++) {
        Py_INCREF(PyTuple_GET_ITEM(args, i));
        values[i] = PyTuple_GET_ITEM(args, i);
    }
    while (n < count && PyDict_Next(kwargs, &position, &name, &value)) {
        Py_INCREF(name);
        PyTuple_SET_ITEM(names, n, name);
        Py_INCREF(value);
        values[nargs + n++] = value;
    }
    result = function_run(self, values, nargs, names);
    for (Py_ssize_t i = 0; i < nargs + n; i++) {
        Py_DECREF(values[i]);
    }
    PyMem_Free(values);
    Py_DECREF(names);
    return result;
}

PyObject *
jit_function_call(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    ProfiledCall call = {.function = NULL};
    PyThreadState *tstate = PyThreadState_Get();
    thread_refund_call(tstate);
    if (calls_profiled) {
        profiled_call_begin(&call, (PyObject *)self, &self->profile);
    }
    PyObject *result = kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0
                           ? keywords_run(self, args, kwargs)
                           : function_run(self, &PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), NULL); /* owned */
    profiled_call_end(&call);
    thread_charge_call(tstate);
    return result;
}
