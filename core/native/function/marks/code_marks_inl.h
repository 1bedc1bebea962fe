/* Marks of code objects, on all versions; inlined functions. */
#ifndef PIJIT_FUNCTION_MARKS_CODE_MARKS_INL_H
#define PIJIT_FUNCTION_MARKS_CODE_MARKS_INL_H

#include "function/dispatch.h"

/* Make `*slot` own `value`, which may be NULL. */
static inline void
slot_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;
    Py_XINCREF(value);
    *slot = value;
    Py_XDECREF(old);
}

#endif
