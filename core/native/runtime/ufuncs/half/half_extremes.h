/* Inner loops for float16 of np.maximum and np.minimum, with NumPy's bits. */
#ifndef PIJIT_RUNTIME_UFUNCS_HALF_HALF_EXTREMES_H
#define PIJIT_RUNTIME_UFUNCS_HALF_HALF_EXTREMES_H

#include "runtime/ufuncs/half/half_loop_inl.h"

void half_maximum_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);
void half_minimum_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data);

/* True if the loop gives what NumPy's loop gives. */
int half_maximum_agrees(const HalfLoop *loop);
int half_minimum_agrees(const HalfLoop *loop);

#endif
