/* Functions with code made by pijit, from CPython 3.11 on. */
#ifndef PIJIT_HIDDEN_MAKE_FUNCTION_INL_H
#define PIJIT_HIDDEN_MAKE_FUNCTION_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A NEW function with linked code, and everything else from `function` except its defaults; NULL with an exception
 * set. */
static PyFunctionObject *
hidden_make(PyFunctionObject *function, PyCodeObject *linked)
{
    PyFunctionObject *hidden = (PyFunctionObject *)PyFunction_NewWithQualName((PyObject *)linked, function->func_globals,
                                                                              function->func_qualname); /* owned, given away */
    if (hidden == NULL) {
        return NULL;
    }
    /* A new function looks its builtins up; this one must have those of `function`. */
    Py_XSETREF(hidden->func_builtins, Py_XNewRef(function->func_builtins));
    Py_XSETREF(hidden->func_module, Py_XNewRef(function->func_module));
    if (function->func_closure != NULL && PyFunction_SetClosure((PyObject *)hidden, function->func_closure) < 0) {
        Py_CLEAR(hidden);
    }
    return hidden;
}

#endif
