/* Gram matrices: products of a transposed matrix of few columns with itself. */
#ifndef PIJIT_RUNTIME_LINALG_GRAM_H
#define PIJIT_RUNTIME_LINALG_GRAM_H

#include "launcher/abi.h"
#include "runtime/reductions/outer_axis.h"

/* Returns 1 if the product was computed; all raised flags are its own. Returns 0 if NumPy's loop must compute it,
 * because a sum is NaN or an error other than underflow may have to be reported. */
int gram_run(int64_t function, int64_t data, const int64_t *pointers, const npy_intp *dims, const npy_intp *steps,
             int64_t work, npy_intp size);
PyObject *module_gram_interval(PyObject *module, PyObject *args);

#endif
