/* Reductions of floats along an outer axis: sums, minima and maxima of rows, element by element.
 *
 * NumPy calls its loop for each row, and each call loads and stores the result. Here vectors combine
 * some rows at a time, with the results in registers. Each result meets its elements in the same order. NumPy's loop
 * determines which of several NaNs is the result, and which of two zeros is the smaller one. So NumPy's loop repeats a
 * block of rows in which these occur. After a few such blocks, it does all remaining rows. */
#include "runtime/reductions/outer_axis.h"
#include "launcher/abi.h"
#include "runtime/reductions/pairwise_sum.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include <string.h>

#define COLUMNS_BLOCK 16384 /* bytes of a block of rows, within the limits on rows below */
#define COLUMNS_LEAST 16
#define COLUMNS_MOST 256

typedef int64_t DoubleMasks __attribute__((vector_size(32), may_alias));

typedef int32_t FloatMasks __attribute__((vector_size(32), may_alias));

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>
#define DOUBLE_MINIMUM(a, b) ((DoubleLanes)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define DOUBLE_MAXIMUM(a, b) ((DoubleLanes)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#define FLOAT_MINIMUM(a, b) ((FloatLanes)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define FLOAT_MAXIMUM(a, b) ((FloatLanes)_mm256_max_ps((__m256)(a), (__m256)(b)))
#else
#define PICKED(Lanes, Masks, holds, a, b) ((Lanes)(((Masks)(holds) & (Masks)(a)) | (~(Masks)(holds) & (Masks)(b))))
#define DOUBLE_MINIMUM(a, b) PICKED(DoubleLanes, DoubleMasks, (a) < (b), a, b)
#define DOUBLE_MAXIMUM(a, b) PICKED(DoubleLanes, DoubleMasks, (a) > (b), a, b)
#define FLOAT_MINIMUM(a, b) PICKED(FloatLanes, FloatMasks, (a) < (b), a, b)
#define FLOAT_MAXIMUM(a, b) PICKED(FloatLanes, FloatMasks, (a) > (b), a, b)
#endif

#define UNROLLED _Pragma("GCC unroll 4")
#define TILE_VECTORS 4 /* result registers of a tile */

#define LANES_SUM(a, b) ((a) + (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

#define REAL double
#define LANES DoubleLanes
#define MASKS DoubleMasks

#define NAMED(x) doubles_add_##x
#define COMBINE LANES_SUM
#define COMBINE_ONE LANES_SUM
#define IS_SUM 1
#include "runtime/reductions/outer_axis.inc"

#define NAMED(x) doubles_minimum_##x
#define COMBINE DOUBLE_MINIMUM
#define COMBINE_ONE SMALLER
#define IS_SUM 0
#include "runtime/reductions/outer_axis.inc"

#define NAMED(x) doubles_maximum_##x
#define COMBINE DOUBLE_MAXIMUM
#define COMBINE_ONE LARGER
#define IS_SUM 0
#include "runtime/reductions/outer_axis.inc"

#undef REAL
#undef LANES
#undef MASKS

#define REAL float
#define LANES FloatLanes
#define MASKS FloatMasks

#define NAMED(x) floats_add_##x
#define COMBINE LANES_SUM
#define COMBINE_ONE LANES_SUM
#define IS_SUM 1
#include "runtime/reductions/outer_axis.inc"

#define NAMED(x) floats_minimum_##x
#define COMBINE FLOAT_MINIMUM
#define COMBINE_ONE SMALLER
#define IS_SUM 0
#include "runtime/reductions/outer_axis.inc"

#define NAMED(x) floats_maximum_##x
#define COMBINE FLOAT_MAXIMUM
#define COMBINE_ONE LARGER
#define IS_SUM 0
#include "runtime/reductions/outer_axis.inc"

#undef REAL
#undef LANES
#undef MASKS

CombineRows
rows_combiner(int operation, int typenum)
{
    static const CombineRows combiners[][2] = {
        {NULL, NULL},
        {doubles_add_rows, floats_add_rows},
        {doubles_minimum_rows, floats_minimum_rows},
        {doubles_maximum_rows, floats_maximum_rows},
    };
    int is_double = typenum == NPY_DOUBLE;
    return (is_double || typenum == NPY_FLOAT) && SUM_CODE_RUNS ? combiners[operation][!is_double] : NULL;
}

typedef int64_t DoubleWord __attribute__((may_alias));

typedef int32_t FloatWord __attribute__((may_alias));

#define NAME plain_doubles
#define WORD DoubleWord
#define SIGN INT64_MIN
#define INFINITE ((int64_t)0x7FF << 52)
#include "runtime/reductions/plain_numbers.inc"

#define NAME plain_floats
#define WORD FloatWord
#define SIGN INT32_MIN
#define INFINITE (0xFF << 23)
#include "runtime/reductions/plain_numbers.inc"

static int
plain_numbers(const char *source, npy_intp count, npy_intp size)
{
    return size == sizeof(double) ? plain_doubles(source, count) : plain_floats(source, count);
}

void
columns_reduce(const ColumnsLoop *loop, char *out, char *source, npy_intp count, npy_intp rows, npy_intp step, char *saved,
               int *patience)
{
    npy_intp size = loop->itemsize, most = COLUMNS_BLOCK / (count * size);
    most = most < COLUMNS_LEAST ? COLUMNS_LEAST : most > COLUMNS_MOST ? COLUMNS_MOST : most;
    for (npy_intp first = 0; first < rows; first += most) {
        npy_intp here = rows - first < most ? rows - first : most;
        char *block = source + first * step;
        if (*patience > 0) {
            int flags = own_status();
            memcpy(saved, out, count * size);
            if (!loop->combine(out, block, count, here, step)) {
                continue;
            }
            int plain = !loop->is_sum && plain_numbers(saved, count, size);
            for (npy_intp i = 0; plain && i < here; i++) {
                plain = plain_numbers(block + i * step, count, size);
            }
            if (plain) {
                continue;
            }
            --*patience;
            memcpy(out, saved, count * size);
            if (!loop->is_sum) {
                own_status_lower(); /* comparisons with NaN raise a flag that NumPy's loops do not report */
                own_status_raise(flags);
            }
        }
        for (npy_intp i = 0; i < here; i++) {
            char *pointers[3] = {out, block + i * step, out};
            npy_intp strides[3] = {size, size, size}, length = count;
            loop->function(pointers, &length, strides, loop->data);
        }
    }
}
