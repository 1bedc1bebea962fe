/* Structures of CPython's dict and set iterators (3.7 to 3.13), which no header declares. */
#ifndef PIJIT_CPYTHON_DICT_ITERATOR_INL_H
#define PIJIT_CPYTHON_DICT_ITERATOR_INL_H

#include "lookup/lookup_inl.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the iterators of dicts and sets: nobody has looked at this version of CPython"
#endif

/* An iterator over a dict or one of its views. */
typedef struct {
    PyObject_HEAD
    PyObject *dict;  /* NULL when it has ended */
    Py_ssize_t used; /* the size of the dict when iteration began */
    Py_ssize_t position;
    PyObject *result;
    Py_ssize_t left;
} DictIterator;

typedef struct {
    PyObject_HEAD
    PyObject *set;   /* NULL when it has ended */
    Py_ssize_t used; /* the size of the set when iteration began; -1 once its size has changed */
    Py_ssize_t position;
    Py_ssize_t left;
} SetIterator;

/* One more than the index of the entry that dict.popitem or set.pop removes next; 0 if the container is empty. */
static inline int64_t
entry_to_take(PyObject *owner)
{
    if (PyAnySet_Check(owner)) {
        const PySetObject *set = (const PySetObject *)owner;
        Py_ssize_t place = set->finger & set->mask;
        while (set->used > 0 && (set->table[place].key == NULL || set->table[place].hash == -1)) {
            place = place >= set->mask ? 0 : place + 1;
        }
        return set->used > 0 ? place + 1 : 0;
    }
    Py_ssize_t last = 0;
    for (Py_ssize_t step = 1; last == 0 && PyDict_GET_SIZE(owner) > 0; step *= 2) {
        Py_ssize_t count = dict_entries(owner);
        Py_ssize_t at = count > step ? count - step : 0;
        while (PyDict_Next(owner, &at, NULL, NULL)) {
            last = at;
        }
    }
    return last;
}

#endif
