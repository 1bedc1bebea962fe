/* Ints as lookup keys, from CPython 3.11 on: made by the public C API, which hides the digits. */
#include "cpython/int_keys.h"

PyObject *
lookup_int(int64_t number)
{
    return PyLong_FromLongLong(number);
}

void
lookup_done(PyObject *key)
{
    Py_DECREF(key);
}
