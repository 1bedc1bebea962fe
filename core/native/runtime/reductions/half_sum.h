/* Sums of float16 numbers that are float32, as np.mean and dtype= ask for. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_HALF_SUM_H
#define PIJIT_RUNTIME_REDUCTIONS_HALF_SUM_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/reductions/reduce.h"

/* Adds the float16 numbers of operand 0 of a nest to the float32 numbers of operand 1. Returns 0, or -1 with MemoryError
 * set. */
int half_sum(const Reduction *reduction, Nest *nest);

#endif
