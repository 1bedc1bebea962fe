/* Comparison of a wanted key with a key of a table, without running user code. Part of lookup.h. */
#ifndef PIJIT_GUARDS_COMPARE_KEYS_H
#define PIJIT_GUARDS_COMPARE_KEYS_H

#include "numpy_api.h"
#include <stdint.h>
#include <string.h>

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

#endif
