/* OSR checks, on all versions: the type, and which visits of a loop's header ask. */
#include "function/tiering/osr_check.h"

#define LONGEST_STRIDE 4096

/* A visit of the header: None, NEW, if it asks; otherwise NULL without an exception. */
static PyObject *
osr_check_next(OsrCheck *self)
{
    if (++self->visits < self->next) {
        return NULL;
    }
    self->next = self->visits + (self->visits < LONGEST_STRIDE ? self->visits : LONGEST_STRIDE);
    Py_RETURN_NONE;
}

static void
osr_check_dealloc(OsrCheck *self)
{
    Py_DECREF(self->ask);
    PyObject_Free(self);
}

PyTypeObject OsrCheck_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.OsrCheck",
    .tp_basicsize = sizeof(OsrCheck),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)osr_check_dealloc,
    .tp_call = (ternaryfunc)osr_check_call,
    .tp_iter = PyObject_SelfIter,
    .tp_iternext = (iternextfunc)osr_check_next,
};

PyObject *
osr_check_new(PyObject *ask, Py_ssize_t slot)
{
    if (!PyCallable_Check(ask)) {
        return PyErr_Format(PyExc_TypeError, "ask must be callable, not %.200s", Py_TYPE(ask)->tp_name);
    }
    OsrCheck *osr_check = PyObject_New(OsrCheck, &OsrCheck_Type); /* owned, given away */
    if (osr_check != NULL) {
        Py_INCREF(ask);
        osr_check->ask = ask;
        osr_check->slot = slot;
        osr_check->visits = 0;
        osr_check->next = 2;
    }
    return (PyObject *)osr_check;
}
