/* Loop nests over strided operands, with axes in the order of NumPy's iterator; inlined functions. */
#ifndef PIJIT_RUNTIME_ITERATION_ITERATION_ORDER_INL_H
#define PIJIT_RUNTIME_ITERATION_ITERATION_ORDER_INL_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"

static inline npy_intp
intp_abs(npy_intp value)
{
    return value < 0 ? -value : value;
}

static inline void
nest_init(Nest *nest, int ndim, const int64_t *shape)
{
    nest->ndim = ndim;
    nest->nops = 0;
    for (int axis = 0; axis < ndim; axis++) {
        nest->shape[axis] = shape[ndim - 1 - axis];
    }
}

#endif
