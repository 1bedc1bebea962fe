/* Instances of CPython 3.7 to 3.10, whose attributes are in their dict. Part of instance_inl.h. */
#ifndef PIJIT_GUARDS_INSTANCE_37_310_INL_H
#define PIJIT_GUARDS_INSTANCE_37_310_INL_H

#include "lookup/dict_keys_37_310_inl.h"

/* The dict of an instance, BORROWED; NULL if it has none, or none yet. */
static inline PyObject *
instance_dict(PyObject *object)
{
    PyObject **place = _PyObject_GetDictPtr(object);
    return place != NULL ? *place : NULL;
}

/* Whether an instance stores attributes without a dict. */
static inline int
instance_has_values(PyObject *object)
{
    return 0;
}

static inline int
instance_values_find(PyObject *object, PyObject *name, PyObject **value)
{
    *value = NULL;
    return LOOKUP_ABSENT;
}

/* The number of attributes of an instance without a dict. */
static inline Py_ssize_t
instance_values_count(PyObject *object)
{
    return 0;
}

#endif
