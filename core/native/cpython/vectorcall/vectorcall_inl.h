/* Calls with arguments in an array, on all versions. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALL_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALL_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* NEW reference to callable(*args), or NULL with an exception set. `names`: a tuple of the names of the last arguments,
 * or NULL. */
static inline PyObject *
vector_call(PyObject *callable, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
#if PY_VERSION_HEX >= 0x03090000
    return PyObject_Vectorcall(callable, args, (size_t)nargs, names);
#elif PY_VERSION_HEX >= 0x03080000
    return _PyObject_Vectorcall(callable, args, (size_t)nargs, names);
#else
    return _PyObject_FastCallKeywords(callable, args, nargs, names);
#endif
}

#endif
