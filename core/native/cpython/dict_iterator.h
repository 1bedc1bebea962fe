/* CPython's iterators over dicts and sets (3.7 to 3.13), which are in no header; see iterators.h. */
#ifndef PIJIT_DICT_ITERATOR_H
#define PIJIT_DICT_ITERATOR_H

#include "lookup.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the iterators of dicts and sets: nobody has looked at this version of CPython"
#endif

/* Of a dict or one of its views. */
typedef struct {
    PyObject_HEAD
    PyObject *dict;             /* NULL when it has ended */
    Py_ssize_t used;            /* as large the dict was */
    Py_ssize_t position;
    PyObject *result;
    Py_ssize_t left;
} DictIterator;

typedef struct {
    PyObject_HEAD
    PyObject *set;              /* NULL when it has ended */
    Py_ssize_t used;            /* as large the set was, -1 once it had another size */
    Py_ssize_t position;
    Py_ssize_t left;
} SetIterator;

/* The position behind the entry that popitem takes out of a dict, or pop of a set; 0 where there is none. */
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
