/* Types without a vectorcall, on CPython 3.7; see vectorcall_slot_inl.h. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_37_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_37_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define VECTORCALL_FIELD
#define VECTORCALL_SET(object, function) ((void)0)
#define VECTORCALL_REPLACE(object, function) ((void)0)
#define VECTORCALL_LAYOUT(layout) .tp_basicsize = sizeof(layout)
#define VECTORCALL_FLAG 0
#define VECTORCALL_CALL NULL
#define METHOD_DESCRIPTOR_FLAG 0
#define VECTORCALL_WITHOUT_ARGUMENTS(name, run)
#define VECTORCALL_WITH_ONE_ARGUMENT(name, run, text)
#define VECTORCALL_WITH_ARGUMENTS(name, run)

static inline PyObject *
vectorcall_callable(PyObject *object, PyMethodDef *method)
{
    return PyCFunction_New(method, object);
}

#endif
