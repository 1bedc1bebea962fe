#include "tape/run.h"
#include "cpython/vectorcall/vectorcall_inl.h"

PyObject *plain_run;
static PyObject *set_item; /* owned: operator.setitem */

static PyObject *
run_plainly(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    if (nargs < 1) {
        PyErr_SetString(PyExc_TypeError, "plain_run needs a function");
        return NULL;
    }
    return vector_call(args[0], args + 1, nargs - 1, names);
}

static PyMethodDef plain_definition = {"plain_run", (PyCFunction)(void (*)(void))run_plainly, METH_FASTCALL | METH_KEYWORDS,
                                       "plain_run(function, *args, **kwargs)\n--\n\nA plain call."};

int
run_ready(void)
{
    PyObject *module = PyImport_ImportModule("operator"); /* owned */
    if (module == NULL) {
        return -1;
    }
    set_item = PyObject_GetAttrString(module, "setitem");
    Py_DECREF(module);
    plain_run = PyCFunction_NewEx(&plain_definition, NULL, NULL);
    return set_item != NULL && plain_run != NULL ? 0 : -1;
}

int
run_assign(PyObject *run, PyArrayObject *target, PyObject *index, PyObject *value)
{
    if (run == plain_run) {
        return PyObject_SetItem((PyObject *)target, index, value);
    }
    PyObject *done = PyObject_CallFunctionObjArgs(run, set_item, (PyObject *)target, index, value, NULL); /* owned */
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}
