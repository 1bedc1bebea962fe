/* Vectorcalls of a JitFunction on CPython 3.8 to 3.10; see vectorcalls_inl.h. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALLS_38_310_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALLS_38_310_INL_H

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

/* A call of a function that is not cold, or that asks at its loops. `py_func` is the Python function. */
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
    TimedRun run;
    PyObject *result = function_dispatch(self, py_func, &arguments, &run, &how); /* owned, given away */
    if (how != DISPATCH_DONE) {
        HookCall call = {NULL, NULL, 0};
        JitFunction *quiet = plain_begin(self, &run);                 /* owned */
        JitFunction *paced = hooked_begin(self, &call, py_func, how); /* owned */
        result = _PyObject_Vectorcall(py_func, args, nargsf, kwnames);
        hooked_end(paced, &call);
        plain_end(quiet);
    }
    timing_end(&run, result != NULL);
    return result;
}

static PyObject *
cold_vectorcall(JitFunction *self, PyObject *py_func, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    ColdCall cold;
    heat_begin(&cold, (PyObject *)self, &self->heat, py_func);
    PyObject *result = heat_is_plain(&self->heat)
                           ? _PyFunction_Vectorcall(py_func, args, nargsf, kwnames)
                           : warm_vectorcall(self, py_func, args, nargsf, kwnames); /* owned, given away */
    heat_end(&cold, &self->heat);
    return result;
}

/* A vectorcall of a JitFunction. NEW reference to the result, or NULL with an exception set. */
static inline PyObject *
jit_function_called(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    JitFunction *self = (JitFunction *)callable;
    if (Py_TYPE(callable)->tp_call != (ternaryfunc)jit_function_call) {
        self->vectorcall = NULL; /* the class has got a __call__ since; a call without vectorcall runs that */
        return _PyObject_Vectorcall(callable, args, nargsf, kwnames);
    }
    PyObject *py_func = function_of(self); /* owned: the call may drop `self` */
    if (py_func == NULL) {
        return NULL;
    }
    Py_INCREF(py_func);
    PyObject *result = self->heat.ask == NULL ? warm_vectorcall(self, py_func, args, nargsf, kwnames)
                                              : cold_vectorcall(self, py_func, args, nargsf, kwnames); /* owned */
    Py_DECREF(py_func);
    return result;
}

#endif
