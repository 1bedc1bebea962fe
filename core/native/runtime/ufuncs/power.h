/* Powers of floats with small integer exponents, with the bits of NumPy's loop for np.power. */
#ifndef PIJIT_RUNTIME_UFUNCS_POWER_H
#define PIJIT_RUNTIME_UFUNCS_POWER_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

/* Replaces a loop of np.power by a faster one, if there is one. */
void powers_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data);

#endif
