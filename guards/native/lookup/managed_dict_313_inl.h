/* Managed dicts in CPython 3.13: the dict is in a word before the instance, the values are after it.
 *
 * A new dict takes over the values in place. */
#ifndef PIJIT_GUARDS_MANAGED_DICT_313_INL_H
#define PIJIT_GUARDS_MANAGED_DICT_313_INL_H

#include "lookup/dict_keys_311_313_inl.h"

/* The first bytes of struct _dictvalues. */
typedef struct {
    uint8_t capacity, size, embedded, valid;
} ValuesHead;

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
    const char *values = (const char *)object + Py_TYPE(object)->tp_basicsize;
    int has = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES) && ((const ValuesHead *)values)->valid;
    return has ? split_values(values) : NULL;
}

#endif
