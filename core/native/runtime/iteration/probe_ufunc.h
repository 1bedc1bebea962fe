/* A ufunc that is made to find out how the installed NumPy calls inner loops. */
#ifndef PIJIT_RUNTIME_ITERATION_PROBE_UFUNC_H
#define PIJIT_RUNTIME_ITERATION_PROBE_UFUNC_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

#define PROBE_INPUTS 3 /* at most */

/* Call a ufunc of doubles with this inner loop. The array is each of its `nin` inputs, and the output may be NULL.
 * Returns the result, new, or NULL with an exception set. */
PyArrayObject *probe_ufunc_call(PyUFuncGenericFunction loop, int nin, PyArrayObject *array, PyArrayObject *output);

#endif
