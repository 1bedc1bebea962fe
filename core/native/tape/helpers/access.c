#include "tape/helpers/access.h"

typedef struct {
    PyObject_HEAD
    PyObject *other; /* owned */
} Access;

PyObject *
access_new(PyMethodDef *definition, PyObject *other)
{
    Access *self = PyObject_GC_New(Access, &Access_Type); /* owned, then the function's */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(other);
    self->other = other;
    PyObject_GC_Track((PyObject *)self);
    PyObject *helper = PyCFunction_NewEx(definition, (PyObject *)self, NULL); /* owned, given away */
    Py_DECREF(self);
    return helper;
}

PyObject *
access_other(PyObject *self)
{
    return ((Access *)self)->other;
}

static int
access_traverse(Access *self, visitproc visit, void *arg)
{
    Py_VISIT(self->other);
    return 0;
}

static void
access_dealloc(Access *self)
{
    PyObject_GC_UnTrack(self);
    Py_DECREF(self->other);
    PyObject_GC_Del(self);
}

PyTypeObject Access_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Access",
    .tp_basicsize = sizeof(Access),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "The helper in Python of a helper in C.",
    .tp_dealloc = (destructor)access_dealloc,
    .tp_traverse = (traverseproc)access_traverse,
};
