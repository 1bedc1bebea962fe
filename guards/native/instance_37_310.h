/* Instances of CPython 3.7 to 3.10: what they hold is in their dict. Part of instance.h. */
#ifndef PIJIT_INSTANCE_37_310_H
#define PIJIT_INSTANCE_37_310_H

/* The dict of an instance, BORROWED; NULL where it has none, or none yet. */
static inline PyObject *
instance_dict(PyObject *object)
{
    PyObject **place = _PyObject_GetDictPtr(object);
    return place != NULL ? *place : NULL;
}

/* Whether an instance keeps attributes without a dict. */
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

/* How many attributes an instance without a dict holds. */
static inline Py_ssize_t
instance_values_count(PyObject *object)
{
    return 0;
}

#endif
