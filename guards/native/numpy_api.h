/* NumPy's C API without its deprecated part.
 *
 * The C files of an extension module share NumPy's tables of functions. One file defines NUMPY_API_MAIN before its
 * first include; it imports the tables. */
#ifndef PIJIT_GUARDS_NUMPY_API_H
#define PIJIT_GUARDS_NUMPY_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL pijit_array_api
#define PY_UFUNC_UNIQUE_SYMBOL pijit_ufunc_api
#ifndef NUMPY_API_MAIN
#define NO_IMPORT_ARRAY
#define NO_IMPORT_UFUNC
#endif
#include <numpy/arrayobject.h>

#endif
