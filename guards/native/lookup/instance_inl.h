/* Attributes of instances, read without making a dict for an instance that has none yet.
 *
 * From CPython 3.11 on an instance stores its attributes without a dict until a program reads `__dict__`. From then
 * on it is slower. So functions here must not make that dict. */
#ifndef PIJIT_GUARDS_INSTANCE_INL_H
#define PIJIT_GUARDS_INSTANCE_INL_H

#include "lookup/lookup_inl.h"

#if PY_VERSION_HEX < 0x030B0000
#include "lookup/instance_37_310_inl.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "lookup/instance_311_313_inl.h"
#else
#error "where instances keep their attributes: nobody has looked at this version of CPython"
#endif

/* Whether lookups in a type work: they crash in a static one that PyType_Ready never saw. Builtin types have no tp_dict
 * from CPython 3.12 on. */
static inline int
type_is_ready(PyTypeObject *type)
{
    return type->tp_dict != NULL || PyType_HasFeature(type, Py_TPFLAGS_READY);
}

/* The referent of a weak reference: a NEW reference; NULL without an exception if it is dead. */
static inline PyObject *
referent(PyObject *reference)
{
    PyObject *value = NULL; /* owned, given away */
#if PY_VERSION_HEX >= 0x030D0000
    (void)PyWeakref_GetRef(reference, &value); /* fails only for objects that are no weak references */
#else
    value = PyWeakref_GET_OBJECT(reference) != Py_None ? PyWeakref_GET_OBJECT(reference) : NULL;
    Py_XINCREF(value);
#endif
    return value;
}

/* As dict_find, in an instance's own attributes; `dict` is its instance_dict. */
static inline int
instance_find_in(PyObject *object, PyObject *dict, PyObject *name, PyObject **value)
{
    return dict != NULL ? dict_find(dict, name, value) : instance_values_find(object, name, value);
}

static inline int
instance_find(PyObject *object, PyObject *name, PyObject **value)
{
    return instance_find_in(object, instance_dict(object), name, value);
}

#endif
