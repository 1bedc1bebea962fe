/* Attributes of functions, and functions with the code of another one, on all versions. */
#ifndef PIJIT_CPYTHON_FUNCTION_PARTS_INL_H
#define PIJIT_CPYTHON_FUNCTION_PARTS_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The attributes of a function that come after `__closure__`, in a list of names. */
#if PY_VERSION_HEX >= 0x030C0000
#define FUNCTION_TYPE_PARAMS "__type_params__"
#else
#define FUNCTION_TYPE_PARAMS
#endif

/* NEW reference to a function with other code, and everything else from `function`; NULL with an exception set. */
static inline PyObject *
function_with_code(PyFunctionObject *function, PyObject *code)
{
    PyFunctionObject *made = (PyFunctionObject *)PyFunction_NewWithQualName(code, function->func_globals,
                                                                            function->func_qualname); /* owned, given away */
    if (made == NULL) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030A0000
    Py_XINCREF(function->func_builtins); /* a new function looks its builtins up */
    Py_XSETREF(made->func_builtins, function->func_builtins);
#endif
    Py_XINCREF(function->func_module);
    Py_XSETREF(made->func_module, function->func_module);
    if ((function->func_closure != NULL && PyFunction_SetClosure((PyObject *)made, function->func_closure) < 0)
        || (function->func_defaults != NULL && PyFunction_SetDefaults((PyObject *)made, function->func_defaults) < 0)
        || (function->func_kwdefaults != NULL && PyFunction_SetKwDefaults((PyObject *)made, function->func_kwdefaults) < 0)) {
        Py_CLEAR(made);
    }
    return (PyObject *)made;
}

#endif
