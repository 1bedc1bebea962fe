/* Copies and pickles of a JitFunction. */
#include "function/copies.h"
#include "function/dispatch.h"
#include "function/jit_function.h"
#include "function/jit_function_inl.h"

static PyObject *rebuild; /* owned; see set_rebuild; may be NULL */

PyObject *
function_set_rebuild(PyObject *Py_UNUSED(module), PyObject *callable)
{
    if (!PyCallable_Check(callable)) {
        return PyErr_Format(PyExc_TypeError, "a callable is needed, not %.200s", Py_TYPE(callable)->tp_name);
    }
    Py_INCREF(callable);
    Py_XSETREF(rebuild, callable);
    Py_RETURN_NONE;
}

/* The object named module.qualname: a NEW reference, or NULL without an exception if there is none. */
static PyObject *
global_find(PyObject *module_name, PyObject *qualname)
{
    PyObject *found = NULL, *dot = NULL, *parts = NULL; /* owned; `found` is given away */
    dot = PyUnicode_FromString(".");
    if (dot == NULL || (parts = PyUnicode_Split(qualname, dot, -1)) == NULL) {
        goto error;
    }
    found = PyImport_GetModule(module_name);
    for (Py_ssize_t i = 0; found != NULL && i < PyList_GET_SIZE(parts); i++) {
        Py_SETREF(found, PyObject_GetAttr(found, PyList_GET_ITEM(parts, i)));
    }
error:
    PyErr_Clear();
    Py_XDECREF(dot);
    Py_XDECREF(parts);
    return found;
}

PyObject *
function_reduce(JitFunction *self, PyObject *Py_UNUSED(args))
{
    PyFunctionObject *py_func = (PyFunctionObject *)function_of(self); /* borrowed */
    if (py_func == NULL) {
        return NULL;
    }
    PyObject *global = NULL; /* owned; only its identity is used */
    if (py_func->func_module != NULL) {
        global = global_find(py_func->func_module, py_func->func_qualname);
    }
    Py_XDECREF(global);
    if (global == (PyObject *)self) {
        Py_INCREF(py_func->func_qualname);
        return py_func->func_qualname;
    }
    PyObject *make = rebuild != NULL ? rebuild : (PyObject *)Py_TYPE(self); /* borrowed */
    return Py_BuildValue("O(O)O", make, py_func, self->dict != NULL ? self->dict : Py_None);
}

PyObject *
function_copy(PyObject *self, PyObject *Py_UNUSED(args))
{
    Py_INCREF(self);
    return self;
}
