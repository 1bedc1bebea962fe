/* Sums of float16 numbers that are float32, with NumPy's bits.
 *
 * NumPy's iterator converts the operand in a buffer of BUFFER_SIZE elements, and calls the loop for float32 on parts of
 * it. Where the innermost axis is reduced, these parts decide in which order numbers are added. iteration_plan.h
 * describes them from NumPy 2.3 on. In earlier versions a part ends where the result element changes, and where the
 * buffer ends. A buffer begins with a part. */
#include "runtime/reductions/half_sum.h"
#include "launcher/abi.h"
#include "runtime/gil.h"
#include "runtime/half_inl.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_plan.h"
#include "runtime/iteration/pieces.h"
#include "runtime/reductions/reduce.h"
#include "runtime/ufuncs/half/half_loop_inl.h"
#include <string.h>

#if HALF_LOOPS_RUN
#include <immintrin.h>
#endif

#define LANES 8 /* numbers that are converted at once */

/* ---- conversion ---- */

/* A NaN keeps its payload, and stays a signalling one. */
static float
nan_widen(npy_half number)
{
    uint32_t bits = (uint32_t)(number & HALF_SIGN) << 16 | 0x7f800000u | (uint32_t)(number & HALF_PAYLOAD) << 13;
    float wide;
    memcpy(&wide, &bits, sizeof(wide));
    return wide;
}

static void
numbers_widen(float *wide, const char *source, npy_intp stride, npy_intp count)
{
    for (npy_intp i = 0; i < count; i++) {
        npy_half number = *(const npy_half *)(source + i * stride);
        int is_nan = (number & HALF_EXPONENT) == HALF_EXPONENT && (number & HALF_PAYLOAD) != 0;
        wide[i] = is_nan ? nan_widen(number) : (float)half_to_double(number);
    }
}

#if HALF_LOOPS_RUN
/* Converts numbers up to a NaN. Returns how many. */
HALF_CODE npy_intp
lanes_widen(float *wide, const char *source, npy_intp stride, npy_intp count)
{
    npy_intp i = 0;
    for (; stride == sizeof(npy_half) && i <= count - LANES; i += LANES) {
        __m256 numbers = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(source + i * stride)));
        if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(numbers, numbers, _CMP_UNORD_Q)) != 0, 0)) {
            break;
        }
        _mm256_storeu_ps(wide + i, numbers);
    }
    for (; i < count; i++) {
        wide[i] = _cvtsh_ss(*(const npy_half *)(source + i * stride));
        if (__builtin_expect(wide[i] != wide[i], 0)) {
            break;
        }
    }
    return i;
}

static npy_intp
plain_widen(float *wide, const char *source, npy_intp stride, npy_intp count)
{
    int runs = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    return runs ? lanes_widen(wide, source, stride, count) : 0;
}
#else
static npy_intp
plain_widen(float *wide, const char *source, npy_intp stride, npy_intp count)
{
    return 0;
}
#endif

static void
run_widen(float *wide, const char *source, npy_intp stride, npy_intp count)
{
    npy_intp done = 0;
    while (done < count) {
        done += plain_widen(wide + done, source + done * stride, stride, count - done);
        npy_intp few = count - done < LANES ? count - done : LANES;
        numbers_widen(wide + done, source + done * stride, stride, few);
        done += few;
    }
}

/* Converts `count` numbers from the nest's position on. */
static void
piece_widen(const Nest *nest, const npy_intp *position, float *wide, npy_intp count)
{
    npy_intp index[NEST_MAXDIMS], stride = nest->strides[0][0];
    const char *place = nest->data[0];
    memcpy(index, position, nest->ndim * sizeof(npy_intp));
    while (count > 0) {
        npy_intp run = nest->shape[0] - index[0] < count ? nest->shape[0] - index[0] : count;
        run_widen(wide, place, stride, run);
        wide += run;
        place += run * stride;
        count -= run;
        index[0] += run;
        for (int axis = 0; axis + 1 < nest->ndim && index[axis] == nest->shape[axis]; axis++) {
            place += nest->strides[axis + 1][0] - nest->shape[axis] * nest->strides[axis][0];
            index[axis] = 0;
            index[axis + 1]++;
        }
    }
}

/* ---- sums ---- */

/* What one buffer holds: `count` elements, which are runs of `length` along the axes inside `outer`. */
typedef struct {
    npy_intp count, length;
    int outer;
} Piece;

/* The piece at a position. `plan` is NULL if the iterator has none, or the order of additions does not depend on it. */
static Piece
piece_find(const Nest *nest, const npy_intp *index, const Plan *plan, npy_intp left, int all_reduced)
{
    if (plan != NULL) {
        npy_intp count = plan_count(plan, nest, index);
        return (Piece){count, plan->by_cores ? plan->core : count, plan->outer};
    }
    npy_intp row = nest->shape[0] - index[0], most = all_reduced ? left : row;
    if (all_reduced || nest->ndim == 1 || nest->shape[0] > BUFFER_SIZE / 2) {
        npy_intp count = most < BUFFER_SIZE ? most : BUFFER_SIZE;
        return (Piece){count, count, 0};
    }
    npy_intp rows = nest->shape[1] - index[1], held = BUFFER_SIZE / nest->shape[0];
    return (Piece){(rows < held ? rows : held) * nest->shape[0], nest->shape[0], 1};
}

/* Adds what a buffer holds to the results. */
static void
piece_add(const Reduction *reduction, const Nest *nest, const Piece *piece, float *buffer)
{
    npy_intp size = sizeof(float);
    Nest part = {.ndim = 2, .nops = 2, .shape = {piece->length, piece->count / piece->length}};
    part.data[0] = (char *)buffer;
    part.data[1] = nest->data[1];
    part.strides[0][0] = size;
    part.strides[0][1] = nest->strides[0][1];
    part.strides[1][0] = piece->length * size;
    part.strides[1][1] = piece->outer > 0 ? nest->strides[piece->outer][1] : 0;
    rows_reduce(reduction, &part, 0);
}

int
half_sum(const Reduction *reduction, Nest *nest)
{
    static const int cast[] = {1, 0};
    npy_intp index[NEST_MAXDIMS] = {0}, source_index[NEST_MAXDIMS] = {0};
    int in_runs = nest->strides[0][1] == 0, is_planned = iterator_plans && in_runs, all_reduced = in_runs;
    float *buffer = PyMem_RawMalloc(BUFFER_SIZE * sizeof(float)); /* owned */
    Nest source = *nest;
    Plan plan;
    if (buffer == NULL) {
        memory_error();
        return -1;
    }
    for (int axis = 0; axis < nest->ndim; axis++) {
        all_reduced &= nest->strides[axis][1] == 0;
    }
    source.nops = 1;
    nest_coalesce(&source); /* the operand may be one run where the result is not */
    if (is_planned) {
        plan_make(nest, cast, 1, &plan);
    }
    for (npy_intp left = nest_count(nest); left > 0;) {
        Piece piece = piece_find(nest, index, is_planned ? &plan : NULL, left, all_reduced);
        piece_widen(&source, source_index, buffer, piece.count);
        piece_add(reduction, nest, &piece, buffer);
        nest_skip(nest, index, piece.count);
        nest_skip(&source, source_index, piece.count);
        left -= piece.count;
    }
    PyMem_RawFree(buffer);
    return 0;
}
