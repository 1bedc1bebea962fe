/* Calls of a JitFunction up to CPython 3.10.
 *
 * CPython makes the calls that dispatch.c does not serve. The frame hook is installed until the function's frame
 * starts. */
#include "cpython/vectorcall/vectorcall_slot_inl.h"
#include "cpython/vectorcall/vectorcalls_inl.h"
#include "function/call_checks.h"
#include "function/call_checks_inl.h"
#include "function/tiering/cold_functions.h"
#include "function/tiering/cold_functions_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing_inl.h"
#include "function/jit_function.h"
#include "function/jit_function_inl.h"
#include "hook/calls_inl.h"
#include "hook/hooked.h"

#define MOST_KEYWORDS 32

/* As tuple_dispatch, for a call with more than MOST_KEYWORDS keywords: the hook serves it, but it is watched. */
static PyObject *
crowded_dispatch(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs, Dispatched *how)
{
    Py_ssize_t position = 0, count = PyDict_GET_SIZE(kwargs), n = 0;
    PyObject **names = PyMem_New(PyObject *, 2 * count); /* owned; what is in it is borrowed */
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

/* As function_dispatch, for the arguments of tp_call. */
static PyObject *
tuple_dispatch(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs, TimedRun *run, Dispatched *how)
{
    PyObject *names[MOST_KEYWORDS], *values[MOST_KEYWORDS]; /* borrowed: they are bound before any code runs */
    Arguments arguments = {&PyTuple_GET_ITEM(args, 0), PyTuple_GET_SIZE(args), names, values, 0};
    Py_ssize_t position = 0, count = kwargs != NULL ? PyDict_GET_SIZE(kwargs) : 0;

    run->timing = NULL;
    if (count > MOST_KEYWORDS) {
        return crowded_dispatch(self, py_func, args, kwargs, how);
    }
    while (count > 0 && PyDict_Next(kwargs, &position, &names[arguments.nkeywords], &values[arguments.nkeywords])) {
        arguments.nkeywords++;
    }
    return function_dispatch(self, py_func, &arguments, run, how);
}

/* A call of a function that is not cold, or that asks at its loops. `py_func` is the Python function. */
static PyObject *
warm_call(JitFunction *self, PyObject *py_func, PyObject *args, PyObject *kwargs)
{
    PyThreadState *tstate = PyThreadState_Get();
    Dispatched how;
    /* The caller of tp_call has counted a level of recursion, which a call of the function itself would not cost. */
    tstate->recursion_depth--;
    TimedRun run;
    PyObject *result = tuple_dispatch(self, py_func, args, kwargs, &run, &how); /* owned, given away */
    if (how != DISPATCH_DONE) {
        HookCall call = {NULL, NULL, 0};
        JitFunction *quiet = plain_begin(self, &run);                 /* owned */
        JitFunction *paced = hooked_begin(self, &call, py_func, how); /* owned */
        result = PyObject_Call(py_func, args, kwargs);
        hooked_end(paced, &call);
        plain_end(quiet);
    }
    timing_end(&run, result != NULL);
    tstate->recursion_depth++;
    return result;
}

PyObject *
jit_function_call(JitFunction *self, PyObject *args, PyObject *kwargs)
{
    PyObject *py_func = function_of(self); /* owned: the call may drop `self` */
    if (py_func == NULL) {
        return NULL;
    }
    ProfiledCall call = {.function = NULL};
    Py_INCREF(py_func);
    if (calls_profiled) {
        profiled_call_begin(&call, (PyObject *)self, &self->profile);
    }
    PyObject *result; /* owned, given away */
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
    profiled_call_end(&call);
    Py_DECREF(py_func);
    return result;
}

VECTORCALL_WITH_ARGUMENTS(jit_function_vectorcall, jit_function_called)
