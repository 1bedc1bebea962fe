/* Where CPython 3.13 has the dict of an instance, and its values: in front of it, and behind it.
 *
 * A dict that was made takes over the values where they are. */
#ifndef PIJIT_MANAGED_DICT_313_H
#define PIJIT_MANAGED_DICT_313_H

/* How struct _dictvalues begins. */
typedef struct {
    uint8_t capacity, size, embedded, valid;
} ValuesHead;

/* The dict, BORROWED, or NULL. */
static inline PyObject *
managed_dict(PyObject *object)
{
    return ((PyObject **)object)[-3];
}

/* The values of an instance without a dict, BORROWED, each NULL if there is none; NULL where it has none at all. */
static inline PyObject **
managed_values(PyObject *object)
{
    const char *values = (const char *)object + Py_TYPE(object)->tp_basicsize;
    int has = PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_INLINE_VALUES) && ((const ValuesHead *)values)->valid;
    return has ? split_values(values) : NULL;
}

#endif
