/* Gram matrices: products of a transposed matrix of few columns with itself.
 *
 * The results have the bits of NumPy's loop for np.matmul. That loop calls a library, which first copies a tall matrix
 * twice into an order that suits large products. OpenBLAS computes each element by fused multiply-adds, line after
 * line, and starts a new sum at intervals. For each number of columns, a probe finds out if the installed library does
 * that, and the interval. NumPy's loop determines which of several NaNs is the result. */
#include "runtime/linalg/gram.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/linalg/probe_numbers.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include "runtime/ufuncs/gufunc.h"
#include <numpy/ufuncobject.h>
#include <string.h>
#include <math.h>

#define GRAM_SIDE 32        /* maximum number of columns */
#define GRAM_STEP (1 << 24) /* maximum bytes between lines */

typedef struct {
    npy_intp side, depth, interval, step;
    const char *first;
    char *out;
    npy_intp out_steps[2];
} Gram;

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>

/* The number of the remaining lines that make the next sum. */
static npy_intp
gram_part(npy_intp left, npy_intp interval)
{
    return left >= 2 * interval ? interval : left > interval ? (left + 1) / 2 : left;
}

#define GRAM_CODE __attribute__((target("avx512f"), optimize("fp-contract=off")))
#define MANY 16
#define MASK __mmask16
#define MASKED(count) ((MASK)((1u << (count)) - 1))

#define REAL double
#define NAMED(name) double_512_##name
#define VECTOR __m512d
#define WIDTH 8
#define FUSE _mm512_fmadd_pd
#define LOAD(from, mask) _mm512_maskz_loadu_pd((__mmask8)(mask), from)
#define IS_NAN(sums) (_mm512_cmp_pd_mask(sums, sums, _CMP_UNORD_Q) != 0)
#include "runtime/linalg/gram.inc"

#define REAL float
#define NAMED(name) float_512_##name
#define VECTOR __m512
#define WIDTH 16
#define FUSE _mm512_fmadd_ps
#define LOAD(from, mask) _mm512_maskz_loadu_ps(mask, from)
#define IS_NAN(sums) (_mm512_cmp_ps_mask(sums, sums, _CMP_UNORD_Q) != 0)
#include "runtime/linalg/gram.inc"

#undef GRAM_CODE
#undef MANY
#undef MASK
#undef MASKED
#define GRAM_CODE __attribute__((target("avx2,fma"), optimize("fp-contract=off")))
#define MANY 12
#define MASK __m256i
#define MASKED(count) _mm256_loadu_si256((const __m256i *)(gram_masks + 8 - (count) * (8 / WIDTH)))
static const int32_t gram_masks[16] = {-1, -1, -1, -1, -1, -1, -1, -1};

#define REAL double
#define NAMED(name) double_256_##name
#define VECTOR __m256d
#define WIDTH 4
#define FUSE _mm256_fmadd_pd
#define LOAD(from, mask) _mm256_maskload_pd(from, mask)
#define IS_NAN(sums) (_mm256_movemask_pd(_mm256_cmp_pd(sums, sums, _CMP_UNORD_Q)) != 0)
#include "runtime/linalg/gram.inc"

#define REAL float
#define NAMED(name) float_256_##name
#define VECTOR __m256
#define WIDTH 8
#define FUSE _mm256_fmadd_ps
#define LOAD(from, mask) _mm256_maskload_ps(from, mask)
#define IS_NAN(sums) (_mm256_movemask_ps(_mm256_cmp_ps(sums, sums, _CMP_UNORD_Q)) != 0)
#include "runtime/linalg/gram.inc"

#undef GRAM_CODE
#undef MANY
#undef MASK
#undef MASKED

static int
grams_possible(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int
gram_in_order(const Gram *of, npy_intp size)
{
    if (__builtin_cpu_supports("avx512f")) {
        return size == sizeof(double) ? double_512_gram(of) : float_512_gram(of);
    }
    return size == sizeof(double) ? double_256_gram(of) : float_256_gram(of);
}

#else

static int
grams_possible(void)
{
    return 0;
}

static int
gram_in_order(const Gram *of, npy_intp size)
{
    return 0;
}

#endif

/* ---- probe of numbers of columns ---- */

#define GRAM_LEAST 64 /* the intervals that are tried: least, most and step */
#define GRAM_MOST 1024
#define GRAM_BETWEEN 16
#define GRAM_LINES (4 * GRAM_MOST)
#define GRAM_FEW 32
#define GRAM_GAP 3 /* elements between lines, in half of the trials */
#define GRAM_UNKNOWN (-1)

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    npy_intp side, size;
    uint64_t state; /* of the random numbers */
    char *lines, *theirs, *ours;
} GramProbe;

static void
gram_probe_fill(GramProbe *probe, int trial, npy_intp lines)
{
    for (npy_intp i = 0; i < lines * (probe->side + GRAM_GAP); i++) {
        double number = probe_number(&probe->state, trial, 0);
        if (probe->size == sizeof(double)) {
            ((double *)probe->lines)[i] = number;
        }
        else {
            ((float *)probe->lines)[i] = (float)number;
        }
    }
}

/* Computes the product of `depth` lines by NumPy's loop. Returns the description of the same product for our order. */
static Gram
gram_probe_run(GramProbe *probe, npy_intp depth, npy_intp gap)
{
    const npy_intp side = probe->side, size = probe->size, step = (side + gap) * size;
    const npy_intp dims[4] = {1, side, depth, side}, steps[9] = {0, 0, 0, size, step, step, size, side * size, size};
    char *pointers[3] = {probe->lines, probe->lines, probe->theirs};
    probe->function(pointers, dims, steps, probe->data);
    return (Gram){side, depth, 0, step, probe->lines, probe->ours, {side * size, size}};
}

static int
gram_is_theirs(const GramProbe *probe, Gram gram, npy_intp interval)
{
    gram.interval = interval;
    return gram_in_order(&gram, probe->size)
           && memcmp(probe->ours, probe->theirs, (size_t)(probe->side * probe->side * probe->size)) == 0;
}

/* True if products of up to `lines` lines have the loop's bits. */
static int
gram_probe_depths(GramProbe *probe, npy_intp interval, npy_intp lines)
{
    const npy_intp depths[] = {2,
                               3,
                               4,
                               5,
                               9,
                               14,
                               31,
                               interval - 1,
                               interval,
                               interval + 1,
                               2 * interval - 1,
                               2 * interval,
                               2 * interval + 1,
                               3 * interval + 7,
                               4 * interval};
    for (size_t k = 0; k < 2 * sizeof(depths) / sizeof(depths[0]) && depths[k / 2] <= lines; k++) {
        Gram gram = gram_probe_run(probe, depths[k / 2], k & 1 ? GRAM_GAP : 0);
        if (!gram_is_theirs(probe, gram, interval)) {
            return 0;
        }
    }
    return 1;
}

static npy_intp
gram_probe_all(GramProbe *probe)
{
    npy_intp interval = GRAM_LEAST;
    gram_probe_fill(probe, 4, GRAM_LINES);
    Gram long_one = gram_probe_run(probe, 2 * GRAM_MOST + 2, 0);
    while (!gram_is_theirs(probe, long_one, interval)) {
        interval += GRAM_BETWEEN;
        if (interval > GRAM_MOST) {
            return 0;
        }
    }
    int same = gram_probe_depths(probe, interval, GRAM_LINES);
    for (int trial = 0; same && trial < 4; trial++) {
        gram_probe_fill(probe, trial, GRAM_FEW);
        same = gram_probe_depths(probe, interval, GRAM_FEW);
    }
    return same ? interval : 0;
}

/* The number of lines after which the loop starts new sums. 0 if it adds in another order, or memory is exhausted. */
static npy_intp
gram_probe(int64_t function, int64_t data, npy_intp side, npy_intp size)
{
    const npy_intp lines = GRAM_LINES * (side + GRAM_GAP) * size, result = side * side * size;
    char *memory = PyMem_RawMalloc((size_t)(lines + 2 * result)); /* owned */
    if (memory == NULL) {
        return 0;
    }
    GramProbe probe = {(PyUFuncGenericFunction)function, (void *)data, side, size, PROBE_STATE, memory, memory + lines,
                       memory + lines + result};
    npy_intp interval = gram_probe_all(&probe);
    PyMem_RawFree(memory);
    return interval;
}

static npy_intp
gram_known(int64_t function, int64_t data, npy_intp side, npy_intp size)
{
    static npy_intp known[2][GRAM_SIDE + 1]; /* 0: not probed yet; GRAM_UNKNOWN: no interval matches */
    npy_intp *place = &known[size == sizeof(double)][side];
    if (*place == 0) {
        npy_intp interval = grams_possible() ? gram_probe(function, data, side, size) : 0;
        *place = interval != 0 ? interval : GRAM_UNKNOWN;
    }
    return *place == GRAM_UNKNOWN ? 0 : *place;
}

/* ---- functions for kernels ---- */

/* True if the operands are lines of one matrix, the first of them transposed. NumPy does not use the library for lines
 * that overlap or are too far apart. */
static int
is_gram(const int64_t *pointers, const npy_intp *dims, const npy_intp *steps, npy_intp size)
{
    const npy_intp side = dims[1], step = steps[4];
    return pointers[0] == pointers[1] && side == dims[3] && side >= 2 && side <= GRAM_SIDE && dims[2] >= 2 && steps[3] == size
           && steps[6] == size && step == steps[5] && step >= side * size && step <= GRAM_STEP && step % size == 0;
}

int
gram_run(int64_t function, int64_t data, const int64_t *pointers, const npy_intp *dims, const npy_intp *steps, int64_t work,
         npy_intp size)
{
    npy_intp interval = is_gram(pointers, dims, steps, size) ? gram_known(function, data, dims[1], size) : 0;
    if (interval == 0) {
        return 0;
    }
    const Gram gram = {
        dims[1], dims[2], interval, steps[4], (const char *)pointers[0], (char *)pointers[2], {steps[7], steps[8]}};
    int done;
    runtime_flags_clear();
    if (work <= LONG_WORK) {
        done = gram_in_order(&gram, size);
    }
    else {
        unsigned long switches = gil_switches();
        Py_BEGIN_ALLOW_THREADS
        done = gram_in_order(&gram, size);
        Py_END_ALLOW_THREADS
        switches_check(switches);
    }
    return done && !(own_status() & ~FE_UNDERFLOW);
}

PyObject *
module_gram_interval(PyObject *module, PyObject *args)
{
    unsigned long long function, data;
    int size, side;
    if (!PyArg_ParseTuple(args, "KKii:gram_interval", &function, &data, &size, &side)) {
        return NULL;
    }
    return PyLong_FromSsize_t(gram_known((int64_t)function, (int64_t)data, side, size));
}
