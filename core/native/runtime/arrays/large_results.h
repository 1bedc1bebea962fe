/* Large results: arrays that look like NumPy's own, with memory that is reused after their end. */
#ifndef PIJIT_RUNTIME_ARRAYS_LARGE_RESULTS_H
#define PIJIT_RUNTIME_ARRAYS_LARGE_RESULTS_H

#include "launcher/abi.h"

#define RESULT_TRACED_AS 389047 /* numpy.lib.tracemalloc_domain */

/* The handler of results, owned; NULL: results are on NumPy's memory. */
extern PyObject *result_capsule;

/* Makes the capsule if arrays have their handlers in the expected field. */
int results_probe(void);

/* True if a new array of this size would be on NumPy's own memory, which this file's memory can replace. */
int result_is_ours(size_t bytes);

/* A new array that owns its memory: a block of the same size that was used before, if there is one. Steals descr. */
PyObject *result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes);

/* A new array that owns `data`, which is from malloc, or from the buffer pool. Steals descr and data. */
PyObject *result_on(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, char *data, size_t bytes);

/* True if results are on the memory of a handler of this module. */
int results_come_back(void);

#endif
