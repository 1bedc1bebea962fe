/* Products of small matrices and vectors, with the bits of NumPy's loop for np.matmul. */
#ifndef PIJIT_RUNTIME_LINALG_SMALL_MATMUL_H
#define PIJIT_RUNTIME_LINALG_SMALL_MATMUL_H

#include "launcher/abi.h"

/* A nonzero `mask` selects the floating-point flags that are reported. */
int64_t nogil_matmul(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work, int64_t size,
                     int64_t mask);

extern PyMethodDef product_functions[];

#endif
