/* Comparison of a wanted key with a key of a table, without running user code; inlined functions. */
#ifndef PIJIT_GUARDS_COMPARE_KEYS_INL_H
#define PIJIT_GUARDS_COMPARE_KEYS_INL_H

#include "lookup/compare_keys.h"
#include <stdint.h>
#include <string.h>

enum { LOOKUP_ERROR = -2, LOOKUP_RUNS_CODE = -1, LOOKUP_ABSENT = 0, LOOKUP_FOUND = 1 };

enum { PERTURB_BITS = 5, SET_PROBES = 9, NO_ENTRY = -1 };

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

#endif
