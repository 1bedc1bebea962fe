/* NumPy's C API without its deprecated part.
 *
 * A module of several files defines PY_ARRAY_UNIQUE_SYMBOL before it includes this (launcher/abi.h). */
#ifndef PIJIT_GUARDS_NUMPY_API_H
#define PIJIT_GUARDS_NUMPY_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#endif
