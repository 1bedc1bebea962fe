/* Inner loops for float16 with the bits and flags of NumPy's: np.matmul and np.add.
 *
 * NumPy converts each number in software, computes in float32 and rounds each result to float16. A product of matrices
 * adds up in float32, one product after the other. Products of two float16 are exact in float32, so a fused
 * multiply-add has the same bits. The processor converts eight numbers at once. Its flags are those that NumPy sets,
 * except for underflow: NumPy looks at the size before rounding. Results that are NaN are computed again by NumPy's
 * loop, because the order of operands in machine code decides which of several NaNs results. A probe compares each loop
 * with NumPy's own before it is used. */
#include "runtime/ufuncs/half/half_loops.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/ufuncs/half/half_extremes.h"
#include "runtime/ufuncs/half/half_loop_inl.h"
#include <fenv.h>
#include <numpy/ufuncobject.h>
#include <string.h>

#if HALF_LOOPS_RUN
#include <immintrin.h>

#define LANES 8           /* float32 numbers of a vector */
#define PANEL (2 * LANES) /* columns of the right matrix that are multiplied at once */
#define ROWS 4            /* rows of the left matrix that are multiplied at once */
#define PAIRWISE_LEAF 128 /* elements; NumPy halves longer runs */
#define MINUS_ZERO 0x8000
#define ON_STACK 4096 /* float32 numbers of a buffer that needs no allocation */

static HalfLoop half_matmul, half_add, half_maximum, half_minimum;

/* ---- conversions ---- */

HALF_CODE inline float
half_widen(const char *source)
{
    return _cvtsh_ss(*(const npy_half *)source);
}

/* Eight numbers that are `step` bytes apart. */
HALF_CODE inline __m256
lanes_widen(const char *source, npy_intp step)
{
    if (step == sizeof(npy_half)) {
        return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)source));
    }
    npy_half gathered[LANES];
    for (int lane = 0; lane < LANES; lane++) {
        gathered[lane] = *(const npy_half *)(source + lane * step);
    }
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)gathered));
}

static void
underflow_raise(void)
{
    volatile float tiny = 0x1p-100f;
    tiny = tiny * tiny;
}

/* Rounds to float16 with NumPy's flags. */
HALF_CODE inline __m128i
lanes_narrow(__m256 numbers)
{
    const __m256 minus = _mm256_set1_ps(-0.0f), least = _mm256_set1_ps(0x1p-14f);
    __m128i halves = _mm256_cvtps_ph(numbers, _MM_FROUND_TO_NEAREST_INT);
    __m256 tiny = _mm256_cmp_ps(_mm256_andnot_ps(minus, numbers), least, _CMP_LT_OQ);
    if (__builtin_expect(_mm256_movemask_ps(tiny) != 0, 0)) {
        __m256 changed = _mm256_cmp_ps(_mm256_cvtph_ps(halves), numbers, _CMP_NEQ_OQ);
        if (_mm256_movemask_ps(_mm256_and_ps(tiny, changed)) != 0) {
            underflow_raise();
        }
    }
    return halves;
}

/* ---- products of matrices ---- */

typedef struct {
    const char *data;
    npy_intp step;     /* along the axis that the result has, too */
    npy_intp sum_step; /* along the axis that is added up */
    npy_intp count;    /* length of the result's axis */
} Factor;

/* Writes one panel of a factor as float32 numbers: for each summand the numbers of `width` rows or columns. The last one
 * is repeated beyond the factor, so that what is computed of it raises no other flag. */
HALF_CODE void
panel_widen(const Factor *factor, npy_intp first, npy_intp width, npy_intp length, float *panel)
{
    npy_intp count = factor->count - first < width ? factor->count - first : width;
    const char *data = factor->data + first * factor->step;
    if (count == width && width % LANES == 0) {
        for (npy_intp k = 0; k < length; k++) {
            for (npy_intp j = 0; j < width; j += LANES) {
                _mm256_storeu_ps(panel + k * width + j,
                                 lanes_widen(data + k * factor->sum_step + j * factor->step, factor->step));
            }
        }
        return;
    }
    for (npy_intp j = 0; j < width; j++) {
        const char *own = data + (j < count ? j : count - 1) * factor->step;
        for (npy_intp k = 0; k < length; k++) {
            panel[k * width + j] = half_widen(own + k * factor->sum_step);
        }
    }
}

/* Multiplies a panel of ROWS rows by one of PANEL columns. Returns whether all results are numbers. */
HALF_CODE int
panels_multiply(const float *left, const float *right, npy_intp length, npy_half *found)
{
    __m256 sums[ROWS][2];
    for (int i = 0; i < ROWS; i++) {
        sums[i][0] = sums[i][1] = _mm256_setzero_ps();
    }
    for (npy_intp k = 0; k < length; k++) {
        __m256 low = _mm256_loadu_ps(right + k * PANEL), high = _mm256_loadu_ps(right + k * PANEL + LANES);
        for (int i = 0; i < ROWS; i++) {
            __m256 factor = _mm256_broadcast_ss(left + k * ROWS + i);
            sums[i][0] = _mm256_fmadd_ps(factor, low, sums[i][0]);
            sums[i][1] = _mm256_fmadd_ps(factor, high, sums[i][1]);
        }
    }
    int strange = 0;
    for (int i = 0; i < ROWS; i++) {
        for (int part = 0; part < 2; part++) {
            strange |= _mm256_movemask_ps(_mm256_cmp_ps(sums[i][part], sums[i][part], _CMP_UNORD_Q));
            _mm_storeu_si128((__m128i *)(found + i * PANEL + part * LANES), lanes_narrow(sums[i][part]));
        }
    }
    return strange == 0;
}

/* Writes the product of two factors. Returns 0 if NumPy's loop must do it. */
HALF_CODE int
factors_multiply(const Factor *left, const Factor *right, npy_intp length, char *out, npy_intp row_step, npy_intp column_step)
{
    npy_intp panels = (right->count + PANEL - 1) / PANEL, needed = length * (panels * PANEL + ROWS);
    float on_stack[ON_STACK];
    float *memory = needed <= ON_STACK ? on_stack : PyMem_RawMalloc(needed * sizeof(float)); /* owned unless on_stack */
    npy_half found[ROWS * PANEL];
    int done = memory != NULL;
    if (!done) {
        return 0;
    }
    float *rows = memory + length * panels * PANEL;
    for (npy_intp panel = 0; panel < panels; panel++) {
        panel_widen(right, panel * PANEL, PANEL, length, memory + panel * PANEL * length);
    }
    for (npy_intp first = 0; done && first < left->count; first += ROWS) {
        panel_widen(left, first, ROWS, length, rows);
        npy_intp height = left->count - first < ROWS ? left->count - first : ROWS;
        for (npy_intp panel = 0; done && panel < panels; panel++) {
            npy_intp left_over = right->count - panel * PANEL, width = left_over < PANEL ? left_over : PANEL;
            done = panels_multiply(rows, memory + panel * PANEL * length, length, found);
            for (npy_intp i = 0; i < height; i++) {
                char *place = out + (first + i) * row_step + panel * PANEL * column_step;
                for (npy_intp j = 0; j < width; j++) {
                    *(npy_half *)(place + j * column_step) = found[i * PANEL + j];
                }
            }
        }
    }
    if (memory != on_stack) {
        PyMem_RawFree(memory);
    }
    return done;
}

static void
matmul_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    const HalfLoop *loop = data;
    npy_intp m = dimensions[1], n = dimensions[2], p = dimensions[3];
    for (npy_intp number = 0; number < dimensions[0]; number++) {
        char *own[3] = {args[0] + number * steps[0], args[1] + number * steps[1], args[2] + number * steps[2]};
        Factor left = {own[0], steps[3], steps[4], m}, right = {own[1], steps[6], steps[5], p};
        int done = p >= m ? factors_multiply(&left, &right, n, own[2], steps[7], steps[8])
                          : factors_multiply(&right, &left, n, own[2], steps[8], steps[7]);
        if (!done) {
            npy_intp one[] = {1, m, n, p};
            loop_ask(loop, own, one, steps);
        }
    }
}

/* ---- sums ---- */

/* NumPy's sum of a run of at least LANES elements: it halves the run, and adds the elements of a part in eight sums. */
HALF_CODE float
run_sum(const char *source, npy_intp step, npy_intp count)
{
    if (count > PAIRWISE_LEAF) {
        npy_intp half = count / 2 - count / 2 % LANES;
        return run_sum(source, step, half) + run_sum(source + half * step, step, count - half);
    }
    __m256 sums = lanes_widen(source, step);
    npy_intp i = LANES;
    for (; i <= count - LANES; i += LANES) {
        sums = _mm256_add_ps(sums, lanes_widen(source + i * step, step));
    }
    float of[LANES];
    _mm256_storeu_ps(of, sums);
    float total = ((of[0] + of[1]) + (of[2] + of[3])) + ((of[4] + of[5]) + (of[6] + of[7]));
    for (; i < count; i++) {
        total += half_widen(source + i * step);
    }
    return total;
}

/* NumPy's sum of fewer than LANES elements. Its versions begin with zeros of different signs. */
HALF_CODE float
short_run_sum(const char *source, npy_intp step, npy_intp count)
{
    float total = 0;
    for (npy_intp i = 0; i < count; i++) {
        total += half_widen(source + i * step);
    }
    return total;
}

/* A sum as float16. One that is tiny is exact, so there is no underflow. */
HALF_CODE inline npy_half
sum_narrow(float sum)
{
    return _cvtss_sh(sum, _MM_FROUND_TO_NEAREST_INT);
}

/* Adds a run to a number. Returns 0 if NumPy's loop must do it. */
HALF_CODE int
run_add(char *out, const char *source, npy_intp step, npy_intp count)
{
    if (count < LANES && *(const npy_half *)out == MINUS_ZERO) { /* the sum could be a zero of either sign */
        return 0;
    }
    float total = half_widen(out) + (count < LANES ? short_run_sum : run_sum)(source, step, count);
    if (total != total) {
        return 0;
    }
    *(npy_half *)out = sum_narrow(total);
    return 1;
}

/* Adds numbers while no sum is NaN. Returns the number of elements that are done. */
HALF_CODE npy_intp
rows_add(char *const *args, npy_intp count, const npy_intp *steps)
{
    npy_intp i = 0;
    for (; i <= count - LANES; i += LANES) {
        __m256 sums = _mm256_add_ps(lanes_widen(args[0] + i * steps[0], steps[0]),
                                    lanes_widen(args[1] + i * steps[1], steps[1]));
        if (_mm256_movemask_ps(_mm256_cmp_ps(sums, sums, _CMP_UNORD_Q)) != 0) {
            break;
        }
        _mm_storeu_si128((__m128i *)(args[2] + i * steps[2]), lanes_narrow(sums));
    }
    for (; i < count; i++) {
        float sum = half_widen(args[0] + i * steps[0]) + half_widen(args[1] + i * steps[1]);
        if (sum != sum) {
            break;
        }
        *(npy_half *)(args[2] + i * steps[2]) = sum_narrow(sum);
    }
    return i;
}

static void
add_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    const HalfLoop *loop = data;
    npy_intp count = dimensions[0], done = 0;
    if (args[0] == args[2] && steps[0] == 0 && steps[2] == 0) {
        if (run_add(args[0], args[1], steps[1], count)) {
            return;
        }
    }
    else if (steps[2] == sizeof(npy_half) && args[0] == args[2] && steps[0] == steps[2]
             && (args[1] >= args[2] + count * steps[2] || args[1] + count * steps[1] <= args[2]) && steps[1] > 0) {
        done = rows_add(args, count, steps); /* a result that rows are added to */
    }
    if (done < count) {
        char *rest[] = {args[0] + done * steps[0], args[1] + done * steps[1], args[2] + done * steps[2]};
        count -= done;
        loop_ask(loop, rest, &count, steps);
    }
}

/* ---- probes ---- */

static int
matmul_agrees(const HalfLoop *loop)
{
    static const npy_intp shapes[][3] = {{1, 300, 1}, {3, 97, 5}, {5, 17, 33}, {20, 30, 2}, {1, 8, 40}};
    npy_half left[PROBED_NUMBERS], right[PROBED_NUMBERS], wanted[PROBED_NUMBERS], found[PROBED_NUMBERS];
    numbers_fill(left, PROBED_NUMBERS, 1);
    numbers_fill(right, PROBED_NUMBERS, 7);
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        npy_intp m = shapes[k][0], n = shapes[k][1], p = shapes[k][2], size = sizeof(npy_half);
        npy_intp dimensions[] = {1, m, n, p}, steps[] = {0, 0, 0, n * size, size, p * size, size, p * size, size};
        char *args[] = {(char *)left, (char *)right, (char *)wanted};
        loop_ask(loop, args, dimensions, steps);
        args[2] = (char *)found;
        matmul_loop(args, dimensions, steps, (void *)loop);
        if (memcmp(wanted, found, m * p * size) != 0) {
            return 0;
        }
    }
    return 1;
}

static int
add_agrees(const HalfLoop *loop)
{
    npy_half numbers[PROBED_NUMBERS], wanted[PROBED_NUMBERS], found[PROBED_NUMBERS];
    npy_intp size = sizeof(npy_half), reducing[] = {0, size, 0}, adding[] = {size, size, size}, count;
    numbers_fill(numbers, PROBED_NUMBERS, 3);
    for (count = 1; count <= PROBED_NUMBERS; count += count < 20 ? 1 : 29) {
        wanted[0] = found[0] = 0;
        char *args[] = {(char *)wanted, (char *)numbers, (char *)wanted};
        loop_ask(loop, args, &count, reducing);
        if (!run_add((char *)found, (const char *)numbers, size, count) || wanted[0] != found[0]) {
            return 0;
        }
    }
    numbers_fill(wanted, PROBED_NUMBERS, 11);
    memcpy(found, wanted, sizeof(found));
    char *args[] = {(char *)wanted, (char *)numbers, (char *)wanted};
    count = PROBED_NUMBERS;
    loop_ask(loop, args, &count, adding);
    args[0] = args[2] = (char *)found;
    add_loop(args, &count, adding, (void *)loop);
    return memcmp(wanted, found, sizeof(found)) == 0;
}

static const struct {
    const char *name;
    HalfLoop *loop;
    PyUFuncGenericFunction function;
    int (*agrees)(const HalfLoop *);
} replaced[] = {{"matmul", &half_matmul, matmul_loop, matmul_agrees},
                {"add", &half_add, add_loop, add_agrees},
                {"maximum", &half_maximum, half_maximum_loop, half_maximum_agrees},
                {"minimum", &half_minimum, half_minimum_loop, half_minimum_agrees}};

void
half_loops_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data)
{
    const char *types = ufunc->types + index * (ufunc->nin + ufunc->nout);
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c") || ufunc->nin != 2
        || types[0] != NPY_HALF || types[1] != NPY_HALF || types[2] != NPY_HALF) {
        return;
    }
    for (size_t k = 0; k < sizeof(replaced) / sizeof(replaced[0]); k++) {
        HalfLoop *loop = replaced[k].loop;
        if (strcmp(ufunc->name, replaced[k].name) != 0) {
            continue;
        }
        if (!loop->is_probed) {
            fenv_t flags;
            *loop = (HalfLoop){*function, *data, 1, 0};
            feholdexcept(&flags);
            loop->has_same_bits = replaced[k].agrees(loop);
            fesetenv(&flags);
        }
        if (loop->has_same_bits && loop->function == *function && loop->data == *data) {
            *function = replaced[k].function;
            *data = loop;
        }
    }
}

#else
void
half_loops_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data)
{
}

#endif
