/* Iteration plan: how NumPy's iterator cuts a loop nest into pieces, from NumPy 2.3 on. */
#ifndef PIJIT_RUNTIME_ITERATION_ITERATION_PLAN_H
#define PIJIT_RUNTIME_ITERATION_ITERATION_PLAN_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"

/* True if the installed NumPy plans this way, and not as pieces.h describes for older versions. Set by
 * iterator_probe. */
extern int iterator_plans;

typedef struct {
    int outer;      /* the axis of which a piece has several positions */
    npy_intp core;  /* number of elements of the axes inside `outer` */
    npy_intp piece; /* maximum number of elements of a piece */
    int by_cores;   /* the loop is called on single cores */
    int buffered[NEST_MAXOPS];
    npy_intp strides[NEST_MAXOPS]; /* strides for the loop; in elements (0 or 1) if buffered */
} Plan;

/* Makes the plan for a nest whose axes are ordered and merged. */
void plan_make(const Nest *nest, const int *cast, int reduced, Plan *plan);

/* The number of elements of the piece at a position of the nest. */
npy_intp plan_count(const Plan *plan, const Nest *nest, const npy_intp *index);

/* Sets iterator_plans. Returns 0, or -1 with an exception set. It is an error if NumPy makes other pieces. */
int iterator_probe(void);

#endif
