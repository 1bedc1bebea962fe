/* Instances of CPython 3.11 to 3.13. Part of instance_inl.h.
 *
 * Instances of most classes made by a class statement have a managed dict. At first it is only an array of values,
 * whose names are in a key table of the class. Other objects have a pointer to a dict, as before 3.11. */
#ifndef PIJIT_GUARDS_INSTANCE_311_313_INL_H
#define PIJIT_GUARDS_INSTANCE_311_313_INL_H

#include "lookup/dict_keys_311_313_inl.h"

#if PY_VERSION_HEX < 0x030C0000
#include "lookup/managed_dict_311_inl.h"
#elif PY_VERSION_HEX < 0x030D0000
#include "lookup/managed_dict_312_inl.h"
#else
#include "lookup/managed_dict_313_inl.h"
#endif

static inline int
has_managed_dict(PyObject *object)
{
    return PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_MANAGED_DICT);
}

/* The dict of an instance, BORROWED; NULL if it has none, or none yet. */
static inline PyObject *
instance_dict(PyObject *object)
{
    if (has_managed_dict(object)) {
        return managed_dict(object);
    }
    PyObject **place = _PyObject_GetDictPtr(object);
    return place != NULL ? *place : NULL;
}

/* Whether an instance stores attributes without a dict. */
static inline int
instance_has_values(PyObject *object)
{
    return has_managed_dict(object) && managed_dict(object) == NULL && managed_values(object) != NULL;
}

/* As dict_find, in the values of an instance that has no dict. */
static inline int
instance_values_find(PyObject *object, PyObject *name, PyObject **value)
{
    PyObject **values = has_managed_dict(object) ? managed_values(object) : NULL;
    const KeyTable *keys = values != NULL ? (const KeyTable *)((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys : NULL;
    Py_hash_t hash = PyObject_Hash(name);
    Py_ssize_t at;
    *value = NULL;
    if (keys == NULL) {
        return LOOKUP_ABSENT;
    }
    int status = hash == -1 ? LOOKUP_ERROR : table_lookup(keys, name, hash, &at);
    if (status == LOOKUP_ERROR) {
        PyErr_Clear();
        return LOOKUP_RUNS_CODE;
    }
    if (status == LOOKUP_FOUND) {
        *value = values[at];
        return *value != NULL ? LOOKUP_FOUND : LOOKUP_ABSENT;
    }
    return status;
}

/* The number of attributes of an instance without a dict. */
static inline Py_ssize_t
instance_values_count(PyObject *object)
{
    PyObject **values = has_managed_dict(object) ? managed_values(object) : NULL;
    const KeyTable *keys = values != NULL ? (const KeyTable *)((PyHeapTypeObject *)Py_TYPE(object))->ht_cached_keys : NULL;
    Py_ssize_t count = 0;
    for (Py_ssize_t at = 0; keys != NULL && at < keys->entries; at++) {
        count += values[at] != NULL;
    }
    return count;
}

#endif
