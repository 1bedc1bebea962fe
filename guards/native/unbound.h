/* UNBOUND, which stands for NULL in lists of values. Part of evaluate.c. */
#ifndef PIJIT_GUARDS_UNBOUND_H
#define PIJIT_GUARDS_UNBOUND_H

#include <Python.h>

static PyObject *
unbound_repr(PyObject *self)
{
    return PyUnicode_FromString("<unbound>");
}

static PyTypeObject UnboundType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.guards._evaluate.Unbound",
    .tp_doc = "The type of UNBOUND, which stands for an unbound local in a list of values.",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_repr = unbound_repr,
};

static PyObject *unbound = NULL; /* owned, the only instance; the module's init makes it */

#endif
