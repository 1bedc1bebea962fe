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

#define LANES_SUM(a, b) ((a) + (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define NOTHING_ODD(Masks, value) ((Masks)((value) != (value)))
#define ZERO_IS_ODD(Masks, value) ((Masks)((value) == 0))

COMBINE_ROWS(doubles_add, double, DoubleLanes, DoubleMasks, LANES_SUM, LANES_SUM, 0, NOTHING_ODD)
COMBINE_ROWS(floats_add, float, FloatLanes, FloatMasks, LANES_SUM, LANES_SUM, 0, NOTHING_ODD)
COMBINE_ROWS(doubles_minimum, double, DoubleLanes, DoubleMasks, DOUBLE_MINIMUM, SMALLER, 1, ZERO_IS_ODD)
COMBINE_ROWS(floats_minimum, float, FloatLanes, FloatMasks, FLOAT_MINIMUM, SMALLER, 1, ZERO_IS_ODD)
COMBINE_ROWS(doubles_maximum, double, DoubleLanes, DoubleMasks, DOUBLE_MAXIMUM, LARGER, 1, ZERO_IS_ODD)
COMBINE_ROWS(floats_maximum, float, FloatLanes, FloatMasks, FLOAT_MAXIMUM, LARGER, 1, ZERO_IS_ODD)

CombineRows
rows_combiner(int operation, int typenum)
{
    static const CombineRows combiners[][2] = {
        {NULL, NULL},
        {doubles_add, floats_add},
        {doubles_minimum, floats_minimum},
        {doubles_maximum, floats_maximum},
    };
    int is_double = typenum == NPY_DOUBLE;
    return (is_double || typenum == NPY_FLOAT) && SUM_CODE_RUNS ? combiners[operation][!is_double] : NULL;
}

/* Returns 1 if none of `count` adjacent floats is NaN or -0.0. `least` has the sign bit, and `infinity` is a bit
 * pattern. */
#define PLAIN(word, least, infinity) \
    { \
        const word *bits = (const word *)source; \
        const word sign = (least); \
        word odd = 0; \
        for (npy_intp i = 0; i < count; i++) { \
            odd |= (bits[i] == sign) | ((bits[i] & ~sign) > (infinity)); \
        } \
        return odd == 0; \
    }

typedef int64_t DoubleWord __attribute__((may_alias));

typedef int32_t FloatWord __attribute__((may_alias));

LANES_CODE int
plain_numbers(const char *source, npy_intp count, npy_intp size)
{
    if (size == sizeof(double))
        PLAIN(DoubleWord, INT64_MIN, (int64_t)0x7FF << 52)
    PLAIN(FloatWord, INT32_MIN, 0xFF << 23)
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
