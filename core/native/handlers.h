/* Exceptions that signal handlers raise while a kernel calls a library function. Part of runtime.c, apart for its size.
 *
 * CPython runs handlers inside of some functions in C, such as str. Their exceptions are not about the call: a repeated
 * call would not raise them. So an exception is kept, and a pending call raises it where bytecode runs next. The traceback tells it from
 * an exception of the call: a frame there runs the code of a handler. */
#ifndef PIJIT_HANDLERS_H
#define PIJIT_HANDLERS_H

#include <Python.h>
#include <frameobject.h>
#include <signal.h>

/* The function in Python that a call of a handler runs: a NEW reference; NULL without an exception where none is known. */
static PyObject *
handler_function(PyObject *handler)
{
    PyObject *function = PyMethod_Check(handler) ? PyMethod_GET_FUNCTION(handler) : handler;  /* borrowed */
    if (PyFunction_Check(function)) {
        Py_INCREF(function);
        return function;
    }
    static const char *const inner[] = {"__wrapped__", "func", "__call__"};  /* of jitted functions, partials, other objects */
    for (int kind = 0; kind < 3; kind++) {
        PyObject *owner = kind < 2 ? function : (PyObject *)Py_TYPE(function);  /* borrowed */
        PyObject *found = PyObject_GetAttrString(owner, inner[kind]);  /* owned, given away */
        if (found != NULL && PyFunction_Check(found)) {
            return found;
        }
        Py_XDECREF(found);
        PyErr_Clear();
    }
    return NULL;
}

/* Whether a call of a handler runs the code, or code that was made of the same function. */
static int
handler_runs(PyObject *handler, PyCodeObject *code)
{
    PyObject *function = handler_function(handler);  /* owned */
    int runs = 0;
    if (function != NULL && PyFunction_Check(function)) {
        PyCodeObject *own = (PyCodeObject *)PyFunction_GET_CODE(function);  /* borrowed */
        runs = own->co_firstlineno == code->co_firstlineno && own->co_filename == code->co_filename;
    }
    Py_XDECREF(function);
    return runs;
}

/* Whether a handler that is installed runs the code. */
static int
is_handler_code(PyObject *signals, PyCodeObject *code)
{
    int runs = 0;
    for (int number = 1; number < NSIG && !runs; number++) {
        PyObject *handler = PyObject_CallMethod(signals, "getsignal", "i", number);  /* owned */
        if (handler == NULL) {
            PyErr_Clear();
            continue;
        }
        runs = handler != Py_None && !PyLong_Check(handler) && handler_runs(handler, code);
        Py_DECREF(handler);
    }
    return runs;
}

/* Whether a signal handler raised an exception, by its traceback. */
static int
raised_by_handler(PyObject *traceback)
{
    PyObject *signals = traceback != NULL ? PyImport_ImportModule("_signal") : NULL;  /* owned */
    int found = 0;
    if (signals == NULL) {
        PyErr_Clear();
        return 0;
    }
    for (PyTracebackObject *at = (PyTracebackObject *)traceback; at != NULL && !found; at = at->tb_next) {  /* borrowed */
#if PY_VERSION_HEX < 0x03090000
        found = is_handler_code(signals, at->tb_frame->f_code);
#else
        PyCodeObject *code = PyFrame_GetCode(at->tb_frame);  /* owned */
        found = is_handler_code(signals, code);
        Py_DECREF(code);
#endif
    }
    Py_DECREF(signals);
    return found;
}

/* Raises the exception that was kept, whose reference it takes over. */
static int
raise_kept(void *kept)
{
    PyObject *value = kept, *type = (PyObject *)Py_TYPE(value);  /* owned, given away */
    Py_INCREF(type);
    PyErr_Restore(type, value, PyException_GetTraceback(value));
    return -1;
}

/* Lets bytecode raise the exception as soon as it runs; takes over the references. 0, or -1 with the exception set. */
static int
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

#endif
