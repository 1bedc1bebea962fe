/* Calls of a ufunc's inner loop on the pieces that NumPy's iterator makes. */
#ifndef PIJIT_RUNTIME_ITERATION_PIECES_H
#define PIJIT_RUNTIME_ITERATION_PIECES_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include <numpy/ufuncobject.h>

#define SHARED_ALIGN 1024 /* elements; vector code needs no remainder loop for a multiple */

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int nin, nargs;
    int flags;     /* UFUNC_FRESH and others of abi_numbers.inc; without FRESH, outputs are out= operands */
    int64_t least; /* the least amount of work that threads share; 0: never */
    Operand operands[NEST_MAXOPS];
    int cast[NEST_MAXOPS]; /* whether NumPy converts the operand, in a buffer for each piece */
} UfuncRun;

npy_intp nest_count(const Nest *nest);

/* Moves a nest's pointers forward by `count` elements. */
void nest_skip(Nest *nest, npy_intp *index, npy_intp count);

/* Copies `count` elements of an operand, from the nest's position on, to a buffer if `reads`, otherwise from it. */
void buffer_move(const Nest *nest, const npy_intp *position, int op, char *buffer, npy_intp size, npy_intp count, int reads);

/* Iterates over the nest as NumPy's iterator does. Outputs must not overlap inputs. Returns 0, or -1 with an exception
 * set. */
int pieces_run(const UfuncRun *run, Nest *nest);

#endif
