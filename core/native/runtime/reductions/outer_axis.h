/* Reductions of floats along an outer axis: sums, minima and maxima of rows, element by element. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_OUTER_AXIS_H
#define PIJIT_RUNTIME_REDUCTIONS_OUTER_AXIS_H

#include "launcher/abi.h"
#include "runtime/reductions/pairwise_sum.h"
#include <numpy/ufuncobject.h>

#define COLUMNS_WIDEST 131072 /* maximum bytes of a row; a copy of it stays in the cache */
#define COLUMNS_FEWEST 4      /* rows; fewer are not worth a copy of the result */
#define COLUMNS_PATIENCE 4    /* number of repeated blocks after which NumPy's loop does the rest */

enum { COLUMNS_NONE, COLUMNS_ADD, COLUMNS_MINIMUM, COLUMNS_MAXIMUM };

typedef int (*CombineRows)(char *, const char *, npy_intp, npy_intp, npy_intp);

/* The function for an operation on floats of a type, or NULL. */
CombineRows rows_combiner(int operation, int typenum);

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    CombineRows combine;
    npy_intp itemsize;
    int is_sum;
} ColumnsLoop;

/* out = out op each of the rows, which have adjacent elements. `saved` has room for one row. */
void columns_reduce(const ColumnsLoop *loop, char *out, char *source, npy_intp count, npy_intp rows, npy_intp step,
                    char *saved, int *patience);

#endif
