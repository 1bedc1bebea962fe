/* Array cache: small arrays that kernels have made, kept at their end for later kernels. */
#ifndef PIJIT_RUNTIME_ARRAYS_ARRAY_CACHE_H
#define PIJIT_RUNTIME_ARRAYS_ARRAY_CACHE_H

#include "launcher/abi.h"

#define CACHED_ARRAY_BYTES 16384 /* the largest array */

/* Starts the cache if results have this module's handler; results_probe is called before. */
void array_cache_start(void);

/* A new array that owns its memory, for a shape of 1 to CACHED_ARRAY_BYTES bytes: one that was used before, if there is
 * one. NULL with an exception set on failure; NULL without one if nothing is cached, or the program has set a handler. */
PyObject *cached_array(int typenum, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes);

/* Frees all arrays of the cache. */
void array_cache_clear(void);

#endif
