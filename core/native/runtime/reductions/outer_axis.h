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

#define UNROLLED _Pragma("GCC unroll 4")

/* Combines `n` vectors of each row with `n` result registers, from column j on. Minima and maxima can lose a NaN, so
 * `nans` records NaNs. */
#define COMBINE_TILE(type, Lanes, Masks, n, combine, looks, odd) \
    { \
        Lanes result[n]; \
        Masks nans[n]; \
        const char *row = source + j * (npy_intp)sizeof(type); \
        UNROLLED for (int k = 0; k < n; k++) \
        { \
            result[k] = ((const Lanes *)(out + j))[k]; \
            nans[k] = (Masks)(result[k] != result[k]); \
        } \
        for (npy_intp i = 0; i < rows; i++, row += step) { \
            UNROLLED for (int k = 0; k < n; k++) \
            { \
                Lanes value = ((const Lanes *)row)[k]; \
                if (looks) { \
                    nans[k] |= (Masks)(value != value); \
                } \
                result[k] = combine(result[k], value); \
            } \
        } \
        UNROLLED for (int k = 0; k < n; k++) \
        { \
            noted |= nans[k] | odd(Masks, result[k]) | (Masks)(result[k] != result[k]); \
            ((Lanes *)(out + j))[k] = result[k]; \
        } \
    }

/* out = out op each of the rows. Returns whether there may have been a NaN, or zeros of two signs. */
#define COMBINE_ROWS(name, type, Lanes, Masks, combine, one, looks, odd) \
    SUM_CODE int name(char *target, const char *source, npy_intp count, npy_intp rows, npy_intp step) \
    { \
        enum { WIDTH = sizeof(Lanes) / sizeof(type), TILE = 4 * WIDTH }; \
        type *out = (type *)target; \
        Masks noted = {0}; \
        int found = 0; \
        npy_intp j = 0; \
        for (; j <= count - TILE; j += TILE) \
            COMBINE_TILE(type, Lanes, Masks, 4, combine, looks, odd) \
        for (; j <= count - WIDTH; j += WIDTH) \
            COMBINE_TILE(type, Lanes, Masks, 1, combine, looks, odd) \
        for (; j < count; j++) { \
            const char *row = source + j * (npy_intp)sizeof(type); \
            type result = out[j]; \
            found |= result != result; \
            for (npy_intp i = 0; i < rows; i++, row += step) { \
                type value = *(const type *)row; \
                found |= value != value; \
                result = one(result, value); \
            } \
            found |= result != result || (looks && result == 0); \
            out[j] = result; \
        } \
        for (int k = 0; k < (int)WIDTH; k++) { \
            found |= noted[k] != 0; \
        } \
        return found; \
    }

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
