/* Managed dicts in CPython 3.11: one word before the instance for the values, one for the dict; one is NULL. */
#ifndef PIJIT_GUARDS_MANAGED_DICT_311_INL_H
#define PIJIT_GUARDS_MANAGED_DICT_311_INL_H

#include "lookup/dict_keys_311_313_inl.h"

/* The dict, BORROWED, or NULL. */
static inline PyObject *
managed_dict(PyObject *object)
{
    return ((PyObject **)object)[-3];
}

/* The values of an instance without a dict, BORROWED; an unset one is NULL. NULL if there is no array of values. */
static inline PyObject **
managed_values(PyObject *object)
{
    void *values = ((void **)object)[-4];
    return values != NULL ? split_values(values) : NULL;
}

#endif
