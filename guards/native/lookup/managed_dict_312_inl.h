/* Managed dicts in CPython 3.12: one word before the instance, for the values (an odd number) or the dict. */
#ifndef PIJIT_GUARDS_MANAGED_DICT_312_INL_H
#define PIJIT_GUARDS_MANAGED_DICT_312_INL_H

#include "lookup/dict_keys_311_313_inl.h"

static inline char *
managed_word(PyObject *object)
{
    return ((char **)object)[-3];
}

/* The dict, BORROWED, or NULL. */
static inline PyObject *
managed_dict(PyObject *object)
{
    char *word = managed_word(object);
    return (uintptr_t)word & 1 ? NULL : (PyObject *)word;
}

/* The values of an instance without a dict, BORROWED; an unset one is NULL. NULL if there is no array of values. */
static inline PyObject **
managed_values(PyObject *object)
{
    char *word = managed_word(object);
    return (uintptr_t)word & 1 ? split_values(word + 1) : NULL;
}

#endif
