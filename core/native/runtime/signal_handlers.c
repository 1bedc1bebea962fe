/* Exceptions that signal handlers raise while a kernel calls a library function.
 *
 * CPython runs handlers inside some C functions, such as str. Their exceptions do not come from the call, so a repeated
 * call would not raise them. Such an exception is kept, and a pending call raises it when bytecode runs next. The
 * traceback distinguishes it from an exception of the call: one of its frames runs the code of a handler. */
#include "runtime/signal_handlers.h"
#include "launcher/abi.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "function_code_inl.h"
#include <Python.h>
#include <frameobject.h>
#include <signal.h>

/* The Python function that a call of a handler runs. Returns a NEW reference, or NULL without an exception if it is
 * unknown. */
static PyObject *
handler_function(PyObject *handler)
{
    PyObject *function = PyMethod_Check(handler) ? PyMethod_GET_FUNCTION(handler) : handler; /* borrowed */
    if (PyFunction_Check(function)) {
        Py_INCREF(function);
        return function;
    }
    static const char *const inner[] = {"__wrapped__", "func", "__call__"}; /* of jitted functions, partials, others */
    for (int kind = 0; kind < 3; kind++) {
        PyObject *owner = kind < 2 ? function : (PyObject *)Py_TYPE(function); /* borrowed */
        PyObject *found = PyObject_GetAttrString(owner, inner[kind]);          /* owned, given away */
        if (found != NULL && PyFunction_Check(found)) {
            return found;
        }
        Py_XDECREF(found);
        PyErr_Clear();
    }
    return NULL;
}

/* True if a frame of a traceback runs the code, or code made from the same function. */
static int
traceback_has(PyObject *traceback, PyCodeObject *code)
{
    int found = 0;
    /* `at` is borrowed. */
    for (PyTracebackObject *at = (PyTracebackObject *)traceback; at != NULL && !found; at = at->tb_next) {
#if PY_VERSION_HEX < 0x03090000
        PyCodeObject *run = at->tb_frame->f_code; /* owned */
        Py_INCREF(run);
#else
        PyCodeObject *run = PyFrame_GetCode(at->tb_frame); /* owned */
#endif
        found = run->co_firstlineno == code->co_firstlineno && run->co_filename == code->co_filename;
        Py_DECREF(run);
    }
    return found;
}

/* True if a frame of a traceback runs the handler of a signal. */
static int
traceback_has_handler(PyObject *traceback, PyObject *signals, int number)
{
    PyObject *handler = PyObject_CallMethod(signals, "getsignal", "i", number); /* owned */
    PyObject *function = NULL;                                                  /* owned */
    if (handler != NULL && handler != Py_None && !PyLong_Check(handler)) {
        function = handler_function(handler);
    }
    int found = function != NULL && traceback_has(traceback, (PyCodeObject *)function_code((PyFunctionObject *)function));
    Py_XDECREF(handler);
    Py_XDECREF(function);
    PyErr_Clear(); /* the number may not be a signal */
    return found;
}

int
raised_by_handler(PyObject *traceback)
{
    int is_possible = traceback != NULL && thread_runs_handlers();
    PyObject *signals = is_possible ? PyImport_ImportModule("_signal") : NULL; /* owned */
    int found = 0;
    for (int number = 1; signals != NULL && number < NSIG && !found; number++) {
        found = traceback_has_handler(traceback, signals, number);
    }
    PyErr_Clear();
    Py_XDECREF(signals);
    return found;
}

/* Raises the exception that was kept. Steals its reference. */
static int
raise_kept(void *kept)
{
    PyObject *value = kept, *type = (PyObject *)Py_TYPE(value); /* owned, given away */
    Py_INCREF(type);
    PyErr_Restore(type, value, PyException_GetTraceback(value));
    return -1;
}

int
raise_later(PyObject *type, PyObject *value, PyObject *traceback)
{
    if (PyException_SetTraceback(value, traceback) < 0 || Py_AddPendingCall(raise_kept, value) < 0) {
        PyErr_Restore(type, value, traceback);
        return -1;
    }
    Py_DECREF(type);
    Py_DECREF(traceback);
    return 0;
}
