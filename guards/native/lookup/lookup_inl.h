/* Lookups in dicts and sets that run no user code.
 *
 * A lookup compares its key with the keys of equal hash. A key whose class defines __eq__ would notice one more
 * comparison than bytecode makes, or an earlier one. So the tables are searched here, in CPython's layout. A search
 * that meets such a key ends without an answer. The wanted key is a string, a number, or a tuple of these. */
#ifndef PIJIT_GUARDS_LOOKUP_INL_H
#define PIJIT_GUARDS_LOOKUP_INL_H

#include "lookup/compare_keys_inl.h"

/* The layout of dicts, for one family of versions. */
#if PY_VERSION_HEX < 0x030B0000
#include "lookup/dict_keys_37_310_inl.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "lookup/dict_keys_311_313_inl.h"
#else
#error "the layout of dicts: nobody has looked at this version of CPython"
#endif

/* As dict_lookup; an ERROR is cleared and counts as RUNS_CODE. */
static inline int
dict_find(PyObject *dict, PyObject *key, PyObject **value)
{
    Py_hash_t hash = PyObject_Hash(key);
    *value = NULL;
    int status = hash == -1 ? LOOKUP_ERROR : dict_lookup(dict, key, hash, value);
    if (status == LOOKUP_ERROR) {
        PyErr_Clear();
        return LOOKUP_RUNS_CODE;
    }
    return status;
}

/* The next member of a set from index *place of its table on, BORROWED; 0 if there is none. *place moves past it. */
static inline int
set_next(PyObject *set, Py_ssize_t *place, PyObject **key)
{
    const PySetObject *self = (const PySetObject *)set;
    Py_ssize_t at = *place;
    while (at <= self->mask && (self->table[at].key == NULL || self->table[at].hash == -1)) { /* -1: a deleted entry */
        at++;
    }
    *place = at + 1;
    if (at > self->mask) {
        return 0;
    }
    *key = self->table[at].key;
    return 1;
}

/* As dict_find, for the members of a set. */
static inline int
set_find(PyObject *set, PyObject *key)
{
    const setentry *table = ((PySetObject *)set)->table;
    Py_hash_t hash = PyObject_Hash(key);
    size_t mask = (size_t)((PySetObject *)set)->mask, rest = (size_t)hash, slot = rest & mask;
    int status = hash == -1 ? LOOKUP_ERROR : LOOKUP_ABSENT;
    for (; status == LOOKUP_ABSENT; slot = (slot * 5 + 1 + (rest >>= PERTURB_BITS)) & mask) {
        const setentry *entry = &table[slot], *last = slot + SET_PROBES <= mask ? entry + SET_PROBES : entry;
        for (; entry <= last && status == LOOKUP_ABSENT; entry++) {
            if (entry->key == NULL) {
                return LOOKUP_ABSENT;
            }
            status = entry->hash == hash ? lookup_compare(entry->key, key) : LOOKUP_ABSENT;
        }
    }
    if (status == LOOKUP_ERROR) {
        PyErr_Clear();
        return LOOKUP_RUNS_CODE;
    }
    return status;
}

#endif
