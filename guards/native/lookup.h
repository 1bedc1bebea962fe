/* Lookups in dicts and sets that run no user code.
 *
 * A lookup compares its key with the keys of equal hash. A key whose class defines __eq__ would notice one more
 * comparison than bytecode makes, or an earlier one. So the tables are searched here, in CPython's layout. A search
 * that meets such a key ends without an answer. The wanted key is a string, a number, or a tuple of these. */
#ifndef PIJIT_GUARDS_LOOKUP_H
#define PIJIT_GUARDS_LOOKUP_H

#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <numpy/arrayobject.h>

enum { LOOKUP_ERROR = -2, LOOKUP_RUNS_CODE = -1, LOOKUP_ABSENT = 0, LOOKUP_FOUND = 1 };

enum { PERTURB_BITS = 5, SET_PROBES = 9, NO_ENTRY = -1 };

/* Whether comparing bytes with a string issues no BytesWarning. */
static inline int bytes_are_quiet(void);

/* Whether comparing a key with the wanted one runs no user code. */
static inline int
compares_quietly(PyObject *key)
{
    PyTypeObject *type = Py_TYPE(key);
    richcmpfunc compare = type->tp_richcompare;
    if (compare == PyTuple_Type.tp_richcompare) {
        Py_ssize_t i = 0;
        while (i < PyTuple_GET_SIZE(key) && compares_quietly(PyTuple_GET_ITEM(key, i))) {
            i++;
        }
        return i == PyTuple_GET_SIZE(key);
    }
    return compare == PyUnicode_Type.tp_richcompare || compare == PyLong_Type.tp_richcompare
           || compare == PyFloat_Type.tp_richcompare || compare == PyComplex_Type.tp_richcompare
           || compare == PyBaseObject_Type.tp_richcompare || (compare == PyBytes_Type.tp_richcompare && bytes_are_quiet())
           || (PyArray_IsScalar(key, Generic) && !PyArray_IsScalar(key, Void) && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

static inline int
texts_equal(PyObject *one, PyObject *other)
{
    return PyUnicode_KIND(one) == PyUnicode_KIND(other) && PyUnicode_GET_LENGTH(one) == PyUnicode_GET_LENGTH(other)
           && memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other), PyUnicode_GET_LENGTH(one) * PyUnicode_KIND(one)) == 0;
}

/* Compare a key of equal hash with the wanted one: FOUND, ABSENT, RUNS_CODE, or ERROR with an exception set. */
static inline int
lookup_compare(PyObject *key, PyObject *wanted)
{
    if (key == wanted) {
        return LOOKUP_FOUND;
    }
    if (PyUnicode_CheckExact(key) && PyUnicode_CheckExact(wanted)) { /* a string with a hash is ready */
        return texts_equal(key, wanted) ? LOOKUP_FOUND : LOOKUP_ABSENT;
    }
    if (!compares_quietly(key)) {
        return LOOKUP_RUNS_CODE;
    }
    int equal = PyObject_RichCompareBool(key, wanted, Py_EQ);
    return equal < 0 ? LOOKUP_ERROR : equal ? LOOKUP_FOUND : LOOKUP_ABSENT;
}

/* The layout of dicts, for one family of versions. */
#if PY_VERSION_HEX < 0x030B0000
#include "dict_keys_37_310.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "dict_keys_311_313.h"
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
