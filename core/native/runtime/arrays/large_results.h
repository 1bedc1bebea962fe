/* Large results: arrays that look like NumPy's own, with memory that is reused after their end. */
#ifndef PIJIT_RUNTIME_ARRAYS_LARGE_RESULTS_H
#define PIJIT_RUNTIME_ARRAYS_LARGE_RESULTS_H

#include "launcher/abi.h"

/* Makes the capsule if arrays have their handlers in the expected field. */
int results_probe(void);

/* True if a new array of this size would be on NumPy's own memory, which this file's memory can replace. */
int result_is_ours(size_t bytes);

/* A new array that owns its memory: a block of the same size that was used before, if there is one. Steals descr. */
PyObject *result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes);

/* True if results are on the memory of a handler of this module. */
int results_come_back(void);

#endif
