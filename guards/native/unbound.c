/* UNBOUND and its type. */
#include "unbound.h"

PyObject *unbound = NULL;

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

int
unbound_ready(void)
{
    if (unbound == NULL && PyType_Ready(&UnboundType) == 0) {
        unbound = PyObject_New(PyObject, &UnboundType);
    }
    return unbound != NULL ? 0 : -1;
}
