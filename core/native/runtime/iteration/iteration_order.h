/* Loop nests over strided operands, with axes in the order of NumPy's iterator. */
#ifndef PIJIT_RUNTIME_ITERATION_ITERATION_ORDER_H
#define PIJIT_RUNTIME_ITERATION_ITERATION_ORDER_H

#include "launcher/abi.h"

#define NEST_MAXDIMS 32 /* the maximum of NumPy 1.x */
#define NEST_MAXOPS 16
#define BUFFER_SIZE 8192 /* elements in a buffer of NumPy's iterator */

typedef struct {
    int ndim;
    int nops;
    npy_intp shape[NEST_MAXDIMS];
    npy_intp strides[NEST_MAXDIMS][NEST_MAXOPS];
    char *data[NEST_MAXOPS];
} Nest;

/* One operand and the address of its descriptor. If NumPy casts the operand, itemsize is 0, or negative in the words of
 * runtime_ufunc. elision.h explains `into`. */
typedef struct {
    int ndim;
    npy_intp itemsize;
    const int64_t *desc;
    int into;
} Operand;

/* Returns 0, or -1 with an exception set. */
int nest_probe(void);

/* Adds an operand, broadcast to the nest's shape. Axes that do not move it get stride 0. */
void nest_add(Nest *nest, const Operand *operand);

/* Fills perm with the nest's axes from innermost to outermost, ordered by the first nops operands. */
void nest_order(const Nest *nest, int nops, int *perm);
void nest_permute(Nest *nest, const int *perm);

/* Reverses the axes along which none of the first nops operands goes forward and one goes backward. Returns one bit for
 * each axis that was reversed. */
int64_t nest_flip(Nest *nest, int nops);

/* Merges axes. A nest without axes gets one of length 1. */
void nest_coalesce(Nest *nest);

/* Moves a nest's pointers to the next position on the axes from `first` on. Returns 0 after the last position. */
int nest_next(Nest *nest, npy_intp *index, int first);

/* Copies the nest's positions [begin, end) of the last axis to `part`. */
void nest_part(Nest *part, const Nest *nest, npy_intp begin, npy_intp end);

/* Copies elements between two strided runs. */
void elements_copy(char *target, npy_intp target_stride, const char *source, npy_intp source_stride, npy_intp count,
                   npy_intp size);

#define ORDER_C 1
#define ORDER_F 2

/* The orders in which an operand is contiguous, by NumPy's rule: axes of length 1 are ignored, and an empty operand has
 * both orders. */
int operand_orders(const Operand *operand);

/* The order of the result, ORDER_C or ORDER_F, if NumPy needs no iterator for these operands. Otherwise 0. */
int operands_order(const Operand *operands, int nops);

/* Computes the strides of a ufunc's new output for these operands. */
void strides_like(int64_t *desc, int ndim, npy_intp itemsize, const Operand *operands, int nops);

#endif
