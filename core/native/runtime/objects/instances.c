/* Construction of instances of plain classes, for exits and for kernels. */
#include "runtime/objects/instances.h"
#include "launcher/abi.h"
#include <Python.h>

/* A new instance of a subclass of tuple. Returns NULL with an exception set on failure. */
static PyObject *
row_make(PyTypeObject *type, Py_ssize_t count, PyObject *const *values)
{
    PyObject *made = type->tp_alloc(type, count); /* new: the result */
    for (Py_ssize_t i = 0; made != NULL && i < count; i++) {
        Py_INCREF(values[i]);
        PyTuple_SET_ITEM(made, i, values[i]);
    }
    return made;
}

PyObject *
instance_make(PyObject *made, PyObject *type, PyObject *names, PyObject **values)
{
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_SystemError, "the class of an instance is no class");
        return NULL;
    }
    if (PyType_FastSubclass((PyTypeObject *)type, Py_TPFLAGS_TUPLE_SUBCLASS)) {
        return row_make((PyTypeObject *)type, PyTuple_GET_SIZE(names), values);
    }
    if (made != NULL) {
        Py_INCREF(made);
    }
    else {
        PyObject *none = PyTuple_New(0);                                                         /* owned */
        made = none != NULL ? PyBaseObject_Type.tp_new((PyTypeObject *)type, none, NULL) : NULL; /* new: the result */
        Py_XDECREF(none);
    }
    for (Py_ssize_t i = 0; made != NULL && i < PyTuple_GET_SIZE(names); i++) {
        if (PyObject_GenericSetAttr(made, PyTuple_GET_ITEM(names, i), values[i]) < 0) {
            Py_CLEAR(made);
        }
    }
    return made;
}
