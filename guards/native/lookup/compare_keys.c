/* Which keys of dicts and sets can be compared without running user code.
 *
 * This file is part of each extension module that searches dicts or sets. */
#include "lookup/compare_keys.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated from 3.12 on; it exists up to 3.13 */

/* Whether comparing bytes with a string issues no BytesWarning. */
static int
bytes_are_quiet(void)
{
    return !Py_BytesWarningFlag;
}

#pragma GCC diagnostic pop

int
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
