/* Construction of instances of plain classes, for exits and for kernels. */
#ifndef PIJIT_INSTANCES_H
#define PIJIT_INSTANCES_H

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

/* Sets the attributes `names` of the object `made` to `values`, in this order, as object.__setattr__ does. If `made` is
 * NULL, it makes a new instance of a class whose __new__ is that of object. For a subclass of tuple, it makes an
 * instance with `values` as items. Returns a new reference, or NULL with an exception set. */
static PyObject *
instance_make(PyObject *made, PyObject *type, PyObject *names, PyObject *const *values)
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

#endif
