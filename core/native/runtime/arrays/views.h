/* Array objects over the memory of descriptors, their release, and overlaps of operands. */
#ifndef PIJIT_RUNTIME_ARRAYS_VIEWS_H
#define PIJIT_RUNTIME_ARRAYS_VIEWS_H

#include "launcher/abi.h"

/* An array object over the memory in desc. `base` is borrowed. It is NULL for a short-lived object without an owner. */
PyObject *array_wrap(const int64_t *desc, int ndim, int typenum, PyArrayObject *base);

/* The bytes [low, high) that an array occupies; low == high if it is empty. */
void desc_extent(const int64_t *desc, int64_t ndim, int64_t itemsize, int64_t *low, int64_t *high);

#endif
