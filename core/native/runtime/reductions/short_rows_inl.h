/* Sums of short rows of floats: many rows at a time.
 *
 * NumPy's loop sums such a row one element after the other. Here adjacent rows are summed by blocks,
 * each row in a vector lane of its own. NumPy's loop determines which of several NaNs is the result, so it repeats a
 * block with a sum that is NaN. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_SHORT_ROWS_INL_H
#define PIJIT_RUNTIME_REDUCTIONS_SHORT_ROWS_INL_H

#include "launcher/abi.h"
#include "runtime/reductions/pairwise_sum.h"

#define ROWS_BLOCK 64

/* The sums of at most ROWS_BLOCK rows of n elements, with n known to the compiler. The first `done` sums exist
 * already. */
#define SUM_ROWS(type, n, done) \
    case n: \
        for (int row = done; row < rows; row++) { \
            type total = 0; \
            for (int i = 0; i < n; i++) { \
                total += source[row * n + i]; \
            } \
            totals[row] = total; \
        } \
        break;

/* Sums whole groups of four rows of four elements, because the compiler's code is slower. Returns the number of
 * rows. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

/* Loads halves of two rows. The load replaces shuffles, of which a processor does one per cycle. */
SUM_CODE inline __m256d
double_halves(const double *row, const double *other)
{
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row)), _mm_loadu_pd(other), 1);
}

SUM_CODE int
double_fours_sum(double *totals, const double *source, int rows)
{
    int row = 0;
    for (; row + 4 <= rows; row += 4, source += 16) {
        __m256d even = double_halves(source, source + 8), odd = double_halves(source + 4, source + 12);
        __m256d even_rest = double_halves(source + 2, source + 10), odd_rest = double_halves(source + 6, source + 14);
        __m256d total = _mm256_add_pd(_mm256_setzero_pd(), _mm256_unpacklo_pd(even, odd));
        total = _mm256_add_pd(total, _mm256_unpackhi_pd(even, odd));
        total = _mm256_add_pd(total, _mm256_unpacklo_pd(even_rest, odd_rest));
        _mm256_storeu_pd(totals + row, _mm256_add_pd(total, _mm256_unpackhi_pd(even_rest, odd_rest)));
    }
    return row;
}
#else
#define double_fours_sum(totals, source, rows) 0
#endif
#define float_fours_sum(totals, source, rows) 0

/* Adds the sum of each of at most ROWS_BLOCK rows to its element of `out`. Returns 0, without an effect, if a sum is
 * NaN. */
/* clang-format off */
#define ROWS_ADD(name, type, fours_sum) \
    LANES_CODE int name(type *restrict out, const type *restrict source, npy_intp count, int rows) \
    { \
        type totals[ROWS_BLOCK]; \
        int odd = 0; \
        switch (count) { \
        SUM_ROWS(type, 1, 0) SUM_ROWS(type, 2, 0) SUM_ROWS(type, 3, 0) \
        SUM_ROWS(type, 4, fours_sum(totals, source, rows)) SUM_ROWS(type, 5, 0) SUM_ROWS(type, 6, 0) \
        SUM_ROWS(type, 7, 0) \
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
/* clang-format on */

ROWS_ADD(double_rows_add, double, double_fours_sum)
ROWS_ADD(float_rows_add, float, float_fours_sum)

/* Adds one row with elements `stride` bytes apart. Returns 0 if the sum is NaN. */
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
    if (is_double)
        ROW_ADD(double)
    ROW_ADD(float)
}

/* Adds a block of rows. Returns their number, or 0 if that is impossible. */
static inline npy_intp
rows_block_add(char *out, const char *source, npy_intp count, npy_intp rows, int is_double)
{
    int here = rows < ROWS_BLOCK ? (int)rows : ROWS_BLOCK;
    int added = is_double ? double_rows_add((double *)out, (const double *)source, count, here)
                          : float_rows_add((float *)out, (const float *)source, count, here);
    return added ? here : 0;
}

#endif
