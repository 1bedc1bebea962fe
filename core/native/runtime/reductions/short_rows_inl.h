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

#define REAL double
#define NAMED(x) double_##x
#define FOURS_SUM double_fours_sum
#include "runtime/reductions/short_rows.inc"

#define REAL float
#define NAMED(x) float_##x
#define FOURS_SUM float_fours_sum
#include "runtime/reductions/short_rows.inc"

static inline int
short_row_add(char *out, const char *source, npy_intp stride, npy_intp count, int is_double)
{
    return is_double ? double_row_add(out, source, stride, count) : float_row_add(out, source, stride, count);
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
