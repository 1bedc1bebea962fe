/* Array allocation: with a ufunc's layout, on pooled memory, or on an operand's memory. */
#ifndef PIJIT_RUNTIME_ARRAYS_ALLOCATE_H
#define PIJIT_RUNTIME_ARRAYS_ALLOCATE_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"

void words_to_dims(npy_intp *dims, const int64_t *words, int64_t count);

/* Reads [ndim, desc, itemsize] triples. The bits above the item size are the operand's `into` (elision.h). */
void operands_read(Operand *operands, const int64_t *words, int64_t nops);

#endif
