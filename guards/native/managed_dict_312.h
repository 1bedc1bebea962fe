/* Where CPython 3.12 has the values or the dict of an instance: one word in front of it. That of values is odd. */
#ifndef PIJIT_MANAGED_DICT_312_H
#define PIJIT_MANAGED_DICT_312_H

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

/* The values of an instance without a dict, BORROWED, each NULL if there is none; NULL where it has none at all. */
static inline PyObject **
managed_values(PyObject *object)
{
    char *word = managed_word(object);
    return (uintptr_t)word & 1 ? split_values(word + 1) : NULL;
}

#endif
