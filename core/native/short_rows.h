/* Sums of rows of few floats, which NumPy's loop adds up one after the other: many rows at once.
 *
 * Part of reduce.h. Rows that lie one behind the other are added up by blocks, each row in a lane of its own. Which NaN
 * of several comes out is up to NumPy's loop: it does again a block where a sum is NaN. */
#ifndef PIJIT_SHORT_ROWS_H
#define PIJIT_SHORT_ROWS_H

#include "sums.h"

#define ROWS_BLOCK 64

/* The sums of at most ROWS_BLOCK rows of n elements; the compiler knows n. */
#define SUM_ROWS(type, n) \
    case n: \
    for (int row = 0; row < rows; row++) { \
        type total = 0; \
        for (int i = 0; i < n; i++) { \
            total += source[row * n + i]; \
        } \
        totals[row] = total; \
    } \
    break;

/* Adds the sum of each of at most ROWS_BLOCK rows to its place in `out`; 0, and nothing is done, where one is NaN. */
#define ROWS_ADD(name, type) \
    LANES_CODE int name(type *restrict out, const type *restrict source, npy_intp count, int rows) \
    { \
        type totals[ROWS_BLOCK]; \
        int odd = 0; \
        switch (count) { \
        SUM_ROWS(type, 1) SUM_ROWS(type, 2) SUM_ROWS(type, 3) SUM_ROWS(type, 4) SUM_ROWS(type, 5) SUM_ROWS(type, 6) \
        SUM_ROWS(type, 7) \
        default: return 0; \
        } \
        for (int row = 0; row < rows; row++) { \
            odd |= totals[row] != totals[row]; \
        } \
        if (odd) { \
            return 0; \
        } \
        for (int row = 0; row < rows; row++) { \
            out[row] += totals[row]; \
        } \
        return 1; \
    }

ROWS_ADD(double_rows_add, double)
ROWS_ADD(float_rows_add, float)

/* One row, of elements `stride` bytes apart; 0 where the sum is NaN. */
#define ROW_ADD(type) \
    { \
        type total = 0; \
        for (npy_intp i = 0; i < count; i++) { \
            total += *(const type *)(source + i * stride); \
        } \
        if (total == total) { \
            *(type *)out += total; \
        } \
        return total == total; \
    }

static inline int
short_row_add(char *out, const char *source, npy_intp stride, npy_intp count, int is_double)
{
    if (is_double) ROW_ADD(double)
    ROW_ADD(float)
}

/* How many of `rows` rows were added at once; 0 where that cannot be. */
static inline npy_intp
rows_block_add(char *out, const char *source, npy_intp count, npy_intp rows, int is_double)
{
    int here = rows < ROWS_BLOCK ? (int)rows : ROWS_BLOCK;
    int added = is_double ? double_rows_add((double *)out, (const double *)source, count, here)
        : float_rows_add((float *)out, (const float *)source, count, here);
    return added ? here : 0;
}

#endif
