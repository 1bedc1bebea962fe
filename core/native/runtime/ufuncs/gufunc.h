/* Calls of a generalised ufunc's inner loop, and products by NumPy's dot. */
#ifndef PIJIT_RUNTIME_UFUNCS_GUFUNC_H
#define PIJIT_RUNTIME_UFUNCS_GUFUNC_H

#include "launcher/abi.h"

#define LONG_WORK (1 << 20) /* multiplications; from here on the GIL is released, so other threads may run */

/* Called after work without the GIL. Other threads may have changed the state that loops wait for, so loops must leave
 * at their next safepoint. */
void switches_check(unsigned long before);

/* May be called without the GIL. */
int64_t nogil_gufunc(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work,
                     int64_t fatal);

#endif
