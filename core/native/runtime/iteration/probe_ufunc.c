/* A ufunc that is made to find out how the installed NumPy calls inner loops. */
#include "runtime/iteration/probe_ufunc.h"

PyArrayObject *
probe_ufunc_call(PyUFuncGenericFunction loop, int nin, PyArrayObject *array, PyArrayObject *output)
{
    static char types[] = {NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE, NPY_DOUBLE};
    void *data[] = {NULL};
    PyObject *arguments = PyTuple_New(nin + (output != NULL)); /* owned */
    PyObject *ufunc = NULL, *result = NULL;                    /* owned; owned, given away */
    for (int i = 0; i < nin && arguments != NULL; i++) {
        Py_INCREF(array);
        PyTuple_SET_ITEM(arguments, i, (PyObject *)array);
    }
    if (arguments != NULL && output != NULL) {
        Py_INCREF(output);
        PyTuple_SET_ITEM(arguments, nin, (PyObject *)output);
    }
    if (arguments != NULL) {
        ufunc = PyUFunc_FromFuncAndData(&loop, data, types, 1, nin, 1, PyUFunc_None, "probe", "", 0);
    }
    if (ufunc != NULL) {
        result = PyObject_CallObject(ufunc, arguments);
    }
    if (result != NULL && !PyArray_Check(result)) {
        Py_CLEAR(result);
        PyErr_SetString(PyExc_ImportError, "a ufunc of an array did not return an array");
    }
    Py_XDECREF(ufunc);
    Py_XDECREF(arguments);
    return (PyArrayObject *)result;
}
