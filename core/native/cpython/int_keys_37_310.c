/* Ints as lookup keys, in CPython 3.7 to 3.10: one int object is reused in place. */
#include "cpython/int_keys.h"
#include <longintrepr.h>

#define INT_DIGITS ((64 + PyLong_SHIFT - 1) / PyLong_SHIFT)

static PyObject *pooled_int; /* owned, or NULL: an int without other references */

PyObject *
lookup_int(int64_t number)
{
    PyLongObject *key = (PyLongObject *)pooled_int; /* owned, given away */
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    Py_ssize_t digits = 0;
    pooled_int = NULL;
    if (key == NULL && (key = _PyLong_New(INT_DIGITS)) == NULL) {
        return NULL;
    }
    for (; rest != 0; rest >>= PyLong_SHIFT) {
        key->ob_digit[digits++] = (digit)(rest & PyLong_MASK);
    }
    ((PyVarObject *)key)->ob_size = number < 0 ? -digits : digits;
    return (PyObject *)key;
}

/* The key is reused unless a key of the program has kept a reference during a comparison. */
void
lookup_done(PyObject *key)
{
    if (pooled_int == NULL && Py_REFCNT(key) == 1) {
        pooled_int = key;
        return;
    }
    Py_DECREF(key);
}
