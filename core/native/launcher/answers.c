/* Answers of launchers; see the header. */
#include "launcher/answers.h"
#include "launcher/abi.h"

#ifndef Py_TPFLAGS_MAPPING
#define Py_TPFLAGS_MAPPING 0
#endif

PyTypeObject answer_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._launcher.Answer",
    .tp_base = &PyTuple_Type,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_MAPPING,
    .tp_doc = "The exit number and the values of a kernel.",
};

int
answers_ready(void)
{
    return PyType_Ready(&answer_type);
}

PyObject *
answer_new(int is_bare, Py_ssize_t size)
{
    return is_bare ? answer_type.tp_alloc(&answer_type, size) : PyTuple_New(size);
}

PyObject *
miss_build(int is_bare, Py_ssize_t width)
{
    PyObject *miss = answer_new(is_bare, width + 1); /* new: the result */
    PyObject *id = PyLong_FromLong(LAUNCHER_MISS);   /* moved into the tuple */
    if (miss == NULL || id == NULL) {
        Py_XDECREF(miss);
        Py_XDECREF(id);
        return NULL;
    }
    PyTuple_SET_ITEM(miss, 0, id);
    for (Py_ssize_t i = 1; i <= width; i++) {
        Py_INCREF(Py_None);
        PyTuple_SET_ITEM(miss, i, Py_None);
    }
    return miss;
}
