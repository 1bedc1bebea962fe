/* Types whose objects have a vectorcall, which CPython has from 3.8 on. Up to 3.7 only tp_call calls them. */
#ifndef PIJIT_CPYTHON_VECTORCALL_SLOT_INL_H
#define PIJIT_CPYTHON_VECTORCALL_SLOT_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>

#if PY_VERSION_HEX >= 0x03080000

/* The field of an object, after its head. */
#define VECTORCALL_FIELD vectorcallfunc vectorcall;
#define VECTORCALL_SET(object, function) ((object)->vectorcall = (function))

/* Parts of a type whose objects have that field. */
#define VECTORCALL_LAYOUT(layout) .tp_basicsize = sizeof(layout), .tp_vectorcall_offset = offsetof(layout, vectorcall)
#define VECTORCALL_FLAG _Py_TPFLAGS_HAVE_VECTORCALL
#define VECTORCALL_CALL PyVectorcall_Call

#define METHOD_DESCRIPTOR_FLAG Py_TPFLAGS_METHOD_DESCRIPTOR

/* A NEW reference to what linked code calls in place of an object: the object, or up to 3.7 a method of it. */
static inline PyObject *
vectorcall_callable(PyObject *object, PyMethodDef *method)
{
    (void)method;
    Py_INCREF(object);
    return object;
}

#else

#define VECTORCALL_FIELD
#define VECTORCALL_SET(object, function) ((void)0)
#define VECTORCALL_LAYOUT(layout) .tp_basicsize = sizeof(layout)
#define VECTORCALL_FLAG 0
#define VECTORCALL_CALL NULL
#define METHOD_DESCRIPTOR_FLAG 0

static inline PyObject *
vectorcall_callable(PyObject *object, PyMethodDef *method)
{
    return PyCFunction_New(method, object);
}

#endif

#endif
