/* Where CPython 3.11 has the values and the dict of an instance: in front of it, one of them NULL. */
#ifndef PIJIT_MANAGED_DICT_311_H
#define PIJIT_MANAGED_DICT_311_H

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
    void *values = ((void **)object)[-4];
    return values != NULL ? split_values(values) : NULL;
}

#endif
