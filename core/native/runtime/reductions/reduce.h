/* Reductions with NumPy's bits: NumPy's inner loop, called on the same pieces as NumPy calls it. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_REDUCE_H
#define PIJIT_RUNTIME_REDUCTIONS_REDUCE_H

#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include <numpy/ufuncobject.h>

#define PROBE_SIZE (3 * BUFFER_SIZE)

enum { REDUCE_UNPROBED = 0, REDUCE_UNKNOWN = -1 };

#define WHOLE_ROWS NPY_MAX_INTP

/* Elements per run: BUFFER_SIZE, WHOLE_ROWS, or REDUCE_UNKNOWN if NumPy follows another rule. */
extern npy_intp reduce_chunk;

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int typenum;
    npy_intp itemsize;
    int ndim;
    const int64_t *desc;
    int64_t reduced; /* a bit for each axis that is reduced; ALL_REDUCED: all */
    int has_identity;
    int64_t identity;
    int64_t *out;
    int64_t least; /* the least amount of work that threads share; 0: never */
    int operation; /* one of outer_axis.h; COLUMNS_ADD: a run's sum is added to the result */
    int source;    /* type number of the operand: `typenum`, or NPY_HALF for a sum that is float32 */
} Reduction;

/* out = out op (count elements from source). */
void run_reduce(const Reduction *reduction, char *out, char *source, npy_intp stride, npy_intp count);

/* Reduces along some axes of a nest of operand 0 (the source) and 1 (the result, with stride 0 on reduced axes). The
 * result already has the first `skipped` elements of each run. */
void rows_reduce(const Reduction *reduction, Nest *nest, npy_intp skipped);

#endif
