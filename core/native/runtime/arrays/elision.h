/* Temporary elision: NumPy's operators compute into a large temporary operand.
 *
 * A code tells whether NumPy computes into an operand. INTO_NEVER: no. INTO_ALWAYS: yes, if it is large. INTO_UNKNOWN:
 * not known. INTO_LEAVES: the operator would raise. INTO_ASK_FOUND, INTO_ASK_INPUT: the reference count of the object
 * decides. A kernel found this object, or it is an input. Two flags are added to the code. INTO_FREE: the operand has
 * the result's type and is not needed any more. INTO_AS_NUMPY: it may only be overwritten where NumPy overwrites it. */
#ifndef PIJIT_RUNTIME_ARRAYS_ELISION_H
#define PIJIT_RUNTIME_ARRAYS_ELISION_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"

int operands_may_be_elided(const Operand *operands, int nops);

/* Replaces the strides in desc by those of the operand that NumPy computes into. Returns 0, or 1 if the strides cannot
 * be determined. *taken is the number of an operand that NumPy certainly overwrites, or -1. */
int strides_elided(int64_t *desc, int ndim, npy_intp itemsize, const Operand *operands, int nops, int *taken);

/* An operand that is not needed any more, has the result's shape and strides, and has an object. NULL if there is
 * none. */
const Operand *operand_to_reuse(const int64_t *desc, int ndim, const Operand *operands, int nops, int taken);

#endif
