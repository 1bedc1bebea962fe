/* Deferred warnings: floating-point flags that NumPy reports after the write, as in `u *= a`. */
#ifndef PIJIT_RUNTIME_UFUNCS_DEFERRED_REPORT_H
#define PIJIT_RUNTIME_UFUNCS_DEFERRED_REPORT_H

#include "launcher/abi.h"

/* reporter(name) of the module: a NEW builtin. One ufunc per name is kept for the life of the process. */
PyObject *module_reporter(PyObject *module, PyObject *name);

#endif
