/* Inner loops for float16 with the bits and flags of NumPy's, which they replace in kernels. */
#ifndef PIJIT_RUNTIME_UFUNCS_HALF_HALF_LOOPS_H
#define PIJIT_RUNTIME_UFUNCS_HALF_HALF_LOOPS_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

/* Replaces the inner loop of one of NumPy's own ufuncs by a faster one, if there is one and it has the same bits. */
void half_loops_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data);

#endif
