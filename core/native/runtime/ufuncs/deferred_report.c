/* Deferred warnings: floating-point flags that NumPy reports after the write, as in `u *= a`.
 *
 * NumPy writes the whole result of such an operator, then warns or raises. A kernel leaves after the operation, with
 * its flags. Linked code then calls a reporter on the operation's line. The reporter calls a ufunc of the same name
 * whose loop only raises the flags. So NumPy reacts as it does to the real operation, with its own message. */
#include "runtime/ufuncs/deferred_report.h"
#include "launcher/abi.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include <numpy/ufuncobject.h>
#include <fenv.h>

static void
flags_raise(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    for (npy_intp i = 0; i < dimensions[0]; i++) {
        int flags = (int)*(double *)(args[0] + i * steps[0]);
        *(double *)(args[1] + i * steps[1]) = 0.0;
        feraiseexcept((flags & NPY_FPE_DIVIDEBYZERO ? FE_DIVBYZERO : 0) | (flags & NPY_FPE_OVERFLOW ? FE_OVERFLOW : 0)
                      | (flags & NPY_FPE_UNDERFLOW ? FE_UNDERFLOW : 0) | (flags & NPY_FPE_INVALID ? FE_INVALID : 0));
    }
}

/* A call of linked code. `packed` is (the array that was written, flags). Returns the array, or NULL if NumPy raises
 * for the flags. */
static PyObject *
reporter_call(PyObject *ufunc, PyObject *packed)
{
    npy_intp one = 1;
    if (!PyTuple_CheckExact(packed) || PyTuple_GET_SIZE(packed) != 2) {
        PyErr_SetString(PyExc_SystemError, "a reporter wants an array and flags");
        return NULL;
    }
    long flags = PyLong_AsLong(PyTuple_GET_ITEM(packed, 1));
    PyObject *numbers = PyErr_Occurred() ? NULL : PyArray_SimpleNew(1, &one, NPY_DOUBLE); /* owned */
    if (numbers == NULL) {
        return NULL;
    }
    *(double *)PyArray_DATA((PyArrayObject *)numbers) = (double)flags;
    PyObject *result = PyObject_CallFunctionObjArgs(ufunc, numbers, NULL); /* owned */
    Py_DECREF(numbers);
    if (result == NULL) {
        return NULL;
    }
    Py_DECREF(result);
    PyObject *array = PyTuple_GET_ITEM(packed, 0);
    Py_INCREF(array);
    return array;
}

static PyMethodDef reporter_method = {"report", reporter_call, METH_O, "Reports flags as a ufunc does."};

PyObject *
module_reporter(PyObject *module, PyObject *name)
{
    static PyUFuncGenericFunction loops[] = {(PyUFuncGenericFunction)flags_raise};
    static char types[] = {NPY_DOUBLE, NPY_DOUBLE};
    static void *data[] = {NULL};
    static PyObject *reporters = NULL; /* owned, never released */
    if (!PyUnicode_Check(name) || (reporters == NULL && (reporters = PyDict_New()) == NULL)) {
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "name must be a str, got %R", name);
    }
    PyObject *reporter = PyDict_GetItem(reporters, name); /* borrowed */
    if (reporter != NULL) {
        Py_INCREF(reporter);
        return reporter;
    }
    const char *text = PyUnicode_AsUTF8(name);
    char *kept = text == NULL ? NULL : strdup(text); /* never freed: the ufunc does not copy it */
    /* owned */
    PyObject *ufunc = kept == NULL ? NULL : PyUFunc_FromFuncAndData(loops, data, types, 1, 1, 1, PyUFunc_None, kept, "", 0);
    if (ufunc == NULL) {
        free(kept);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    reporter = PyCFunction_New(&reporter_method, ufunc); /* new: the result */
    Py_DECREF(ufunc);
    if (reporter != NULL && PyDict_SetItem(reporters, name, reporter) < 0) {
        Py_CLEAR(reporter);
    }
    return reporter;
}
