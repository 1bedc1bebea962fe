/* Roots from arguments of Python calls, and lists of their values. */
#include "roots.h"
#include "unbound.h"

PyObject *
roots_parse(PyObject *args, Roots *roots)
{
    PyObject *values; /* borrowed */
    if (!PyArg_ParseTuple(args, "OOO", &values, &roots->globals, &roots->builtins)) {
        return NULL;
    }
    PyObject *holder = PySequence_Tuple(values); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    roots->nvalues = PyTuple_GET_SIZE(holder);
    PyObject **array = PyMem_Calloc((size_t)roots->nvalues + 1, sizeof(PyObject *));
    if (array == NULL) {
        Py_DECREF(holder);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < roots->nvalues; i++) {
        PyObject *value = PyTuple_GET_ITEM(holder, i); /* borrowed from holder */
        array[i] = value == unbound ? NULL : value;
    }
    roots->values = array;
    return holder;
}

void
roots_release(Roots *roots, PyObject *holder)
{
    PyMem_Free((void *)roots->values);
    Py_DECREF(holder);
}

PyObject *
roots_as_list(const Roots *roots)
{
    PyObject *list = PyList_New(roots->nvalues); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < roots->nvalues; i++) {
        PyObject *value = roots->values[i] != NULL ? roots->values[i] : unbound; /* borrowed, then the list's */
        Py_INCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

PyObject *
objects_as_list(PyObject *const *objects, Py_ssize_t count)
{
    if (objects == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(count); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        Py_INCREF(objects[i]);
        PyList_SET_ITEM(list, i, objects[i]);
    }
    return list;
}
