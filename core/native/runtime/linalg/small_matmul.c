/* Products of small matrices and vectors, with the bits of NumPy's loop for np.matmul.
 *
 * NumPy's loop calls a library, whose start-up takes far longer than a few multiplications. The order in which a
 * library adds products, and which of them it fuses, depends on sizes and strides, never on the numbers. So each
 * combination of sizes and strides is probed when it first occurs. A probe compares a few dozen products of random
 * numbers at random addresses, by NumPy's loop and in the orders of small_matmul.inc. An order that gives the loop's
 * bits each time replaces it. The loop determines which of several NaNs is the result, and handles errors. */
#include "runtime/linalg/small_matmul.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/linalg/gram.h"
#include "runtime/linalg/probe_numbers.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include "runtime/ufuncs/gufunc.h"
#include <numpy/ufuncobject.h>
#include <string.h>
#include <math.h>

#define PRODUCT_SIDE 8   /* maximum number of rows, and of columns */
#define PRODUCT_DEPTH 16 /* maximum number of products in one sum */
#define PRODUCT_ORDERS 8
#define PRODUCT_PLAIN 0 /* order: one product after the other; PRODUCT_WIDE: the same in double */
#define PRODUCT_WIDE 6
#define PRODUCT_UNKNOWN (-1)

/* The operands, swapped and transposed if the result is a column, so that a vector of results is a row. */
typedef struct {
    npy_intp rows, depth, columns;
    const char *left, *right;
    char *out;
    npy_intp left_steps[2], right_steps[2], out_steps[2];
} Product;

static Product
product_of(const int64_t *pointers, const npy_intp *dims, const npy_intp *steps)
{
    const char *left = (const char *)pointers[0], *right = (const char *)pointers[1];
    char *out = (char *)pointers[2];
    if (dims[3] == 1) {
        return (Product){
            1, dims[2], dims[1], right, left, out, {steps[6], steps[5]}, {steps[4], steps[3]}, {steps[8], steps[7]}};
    }
    return (Product){
        dims[1], dims[2], dims[3], left, right, out, {steps[3], steps[4]}, {steps[5], steps[6]}, {steps[7], steps[8]}};
}

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>
#define PRODUCT_CODE __attribute__((target("avx2,fma"), optimize("fp-contract=off")))

#define REAL double
#define NAMED(name) double_##name
#define FOUR __m256d
#define FUSE _mm256_fmadd_pd
#define WIDEN(sums) (sums)
#define NARROW(sums) (sums)
#define IS_NAN(sums) _mm256_movemask_pd(_mm256_cmp_pd(sums, sums, _CMP_UNORD_Q))
#include "runtime/linalg/small_matmul.inc"
#undef REAL
#undef NAMED
#undef FOUR
#undef FUSE
#undef WIDEN
#undef NARROW
#undef IS_NAN

#define REAL float
#define NAMED(name) float_##name
#define FOUR __m128
#define FUSE _mm_fmadd_ps
#define WIDEN(sums) _mm256_cvtps_pd(sums)
#define NARROW(sums) _mm256_cvtpd_ps(sums)
#define IS_NAN(sums) _mm_movemask_ps(_mm_cmpunord_ps(sums, sums))
#include "runtime/linalg/small_matmul.inc"
#undef REAL
#undef NAMED
#undef FOUR
#undef FUSE
#undef WIDEN
#undef NARROW
#undef IS_NAN

static int
products_possible(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int
product_in_order(const Product *of, npy_intp size, int order, int last)
{
    return size == sizeof(double) ? double_product(of, order, last) : float_product(of, order, last);
}

#else

static int
products_possible(void)
{
    return 0;
}

static int
product_in_order(const Product *of, npy_intp size, int order, int last)
{
    return 1;
}

#endif

/* ---- probe of sizes and strides ---- */

#define PRODUCT_SHAPES 256 /* number of entries; a power of two */
#define PRODUCT_TRIES 8

typedef struct {
    npy_intp sizes; /* 0: the entry is free */
    npy_intp steps[6];
    int order, last; /* PRODUCT_UNKNOWN if no order matches the loop */
    int right;       /* a bit for each order that matches in all columns */
} ProductShape;

static ProductShape product_shapes[PRODUCT_SHAPES];

#define PROBE_TRIALS 64
#define PROBE_ROOM 32768 /* maximum extent of one operand in bytes */
#define PROBE_LINE 64    /* bytes; the addresses of operands vary within this range */

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    const npy_intp *dims, *steps;
    npy_intp size;
    uint64_t state;       /* of the random numbers */
    char *room[4];        /* left, right, result, result in our order */
    npy_intp reach[3][2]; /* bytes below and above an operand's first element */
} Probe;

static void
probe_fill(Probe *probe, char *first, int trial, int operand)
{
    const npy_intp *steps = probe->steps + 3 + 2 * operand;
    for (npy_intp i = 0; i < probe->dims[1 + operand]; i++) {
        for (npy_intp j = 0; j < probe->dims[2 + operand]; j++) {
            char *place = first + i * steps[0] + j * steps[1];
            double number = probe_number(&probe->state, trial, operand);
            if (probe->size == sizeof(double)) {
                *(double *)place = number;
            }
            else {
                *(float *)place = (float)number;
            }
        }
    }
}

/* The columns in which one order's results differ from the loop's. Bit 1: columns up to a multiple of four; bit 2: the
 * others. */
static int
probe_differences(Probe *probe, const Product *ours, const char *theirs)
{
    int differs = 0;
    for (npy_intp i = 0; i < ours->rows; i++) {
        for (npy_intp j = 0; j < ours->columns; j++) {
            npy_intp at = i * ours->out_steps[0] + j * ours->out_steps[1];
            if (memcmp(ours->out + at, theirs + at, (size_t)probe->size) != 0) {
                differs |= j < (ours->columns & ~(npy_intp)3) ? 1 : 2;
            }
        }
    }
    return differs;
}

static void
probe_run(Probe *probe, ProductShape *shape)
{
    int wrong[PRODUCT_ORDERS] = {0};
    for (int trial = 0; trial < PROBE_TRIALS; trial++) {
        char *first[4];
        for (int k = 0; k < 4; k++) {
            first[k] = probe->room[k] + probe->reach[k < 2 ? k : 2][0]
                       + (probe_random(&probe->state) >> 20) % PROBE_LINE / (uint64_t)probe->size * (uint64_t)probe->size;
        }
        int64_t pointers[3] = {(int64_t)first[0], (int64_t)first[1], (int64_t)first[2]};
        probe_fill(probe, first[0], trial, 0);
        probe_fill(probe, first[1], trial, 1);
        probe->function((char **)pointers, probe->dims, probe->steps, probe->data);
        pointers[2] = (int64_t)first[3];
        Product ours = product_of(pointers, probe->dims, probe->steps);
        for (int order = 0; order < PRODUCT_ORDERS; order++) {
            if (wrong[order] != 3) {
                product_in_order(&ours, probe->size, order, order);
                wrong[order] |= probe_differences(probe, &ours, first[2]);
            }
        }
    }
    for (int order = PRODUCT_ORDERS - 1; order >= 0; order--) {
        shape->order = wrong[order] & 1 ? shape->order : order;
        shape->last = wrong[order] & 2 ? shape->last : order;
        shape->right |= (wrong[order] == 0) << order;
    }
    if (shape->order == PRODUCT_UNKNOWN || shape->last == PRODUCT_UNKNOWN) {
        shape->order = PRODUCT_UNKNOWN;
    }
}

/* Stores the order that matches the loop: none if memory is exhausted. */
static void
shape_probe(ProductShape *shape, int64_t function, int64_t data, const npy_intp *dims, const npy_intp *steps, npy_intp size)
{
    Probe probe = {(PyUFuncGenericFunction)function, (void *)data, dims, steps, size, PROBE_STATE, {0}, {{0}}};
    shape->order = shape->last = PRODUCT_UNKNOWN;
    const npy_intp *ends[3][2] = {{dims + 1, dims + 2}, {dims + 2, dims + 3}, {dims + 1, dims + 3}};
    npy_intp total = 0, rooms[3];
    for (int k = 0; k < 3; k++) {
        for (int axis = 0; axis < 2; axis++) {
            npy_intp step = steps[3 + 2 * k + axis];
            if (step < -PROBE_ROOM || step > PROBE_ROOM || step % size != 0) {
                return;
            }
            probe.reach[k][step > 0] += (*ends[k][axis] - 1) * (step < 0 ? -step : step);
        }
        rooms[k] = probe.reach[k][0] + probe.reach[k][1] + size + PROBE_LINE;
        if (rooms[k] > PROBE_ROOM) {
            return;
        }
        rooms[k] = (rooms[k] + PROBE_LINE - 1) / PROBE_LINE * PROBE_LINE;
        total += rooms[k] * (k == 2 ? 2 : 1);
    }
    char *memory = PyMem_RawCalloc(1, (size_t)(total + PROBE_LINE)); /* owned */
    if (memory == NULL) {
        return;
    }
    probe.room[0] = memory + (PROBE_LINE - (uintptr_t)memory % PROBE_LINE);
    probe.room[1] = probe.room[0] + rooms[0];
    probe.room[2] = probe.room[1] + rooms[1];
    probe.room[3] = probe.room[2] + rooms[2];
    probe_run(&probe, shape);
    PyMem_RawFree(memory);
}

/* The entry of a combination of sizes and strides. NULL if the table has no free entry for it. */
static const ProductShape *
shape_find(int64_t function, int64_t data, const npy_intp *dims, const npy_intp *steps, npy_intp size)
{
    const npy_intp sizes = size | dims[1] << 8 | dims[2] << 16 | dims[3] << 24;
    const npy_intp *own = steps + 3;
    uint64_t hash = (uint64_t)(sizes * 3 + own[0] * 5 + own[1] * 17 + own[2] * 33 + own[3] * 65 + own[4] * 129 + own[5] * 257);
    hash = (hash ^ hash >> 11) + (hash >> 19);
    for (int k = 0; k < PRODUCT_TRIES; k++) {
        ProductShape *shape = product_shapes + ((hash + (uint64_t)k) & (PRODUCT_SHAPES - 1));
        if (shape->sizes == sizes && shape->steps[0] == own[0] && shape->steps[1] == own[1] && shape->steps[2] == own[2]
            && shape->steps[3] == own[3] && shape->steps[4] == own[4] && shape->steps[5] == own[5]) {
            return shape;
        }
        if (shape->sizes == 0) {
            shape->sizes = sizes;
            memcpy(shape->steps, own, sizeof(shape->steps));
            shape_probe(shape, function, data, dims, steps, size);
            return shape;
        }
    }
    return NULL;
}

/* ---- functions for kernels ---- */

static int
products_known(void)
{
    static int possible = -1;
    if (possible < 0) {
        possible = products_possible();
    }
    return possible;
}

static int
product_is_small(const int64_t *pointers, const npy_intp *dims)
{
    /* A matrix times its own transpose is a special case in libraries. */
    return dims[1] <= PRODUCT_SIDE && dims[3] <= PRODUCT_SIDE && dims[2] <= PRODUCT_DEPTH && dims[2] > 0
           && (pointers[0] != pointers[1] || dims[1] == 1 || dims[3] == 1);
}

int64_t
nogil_matmul(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work, int64_t size,
             int64_t mask)
{
    if (mask) {
        runtime_flags_clear();
    }
    int64_t answer = nogil_gufunc(function, data, pointers, dims, steps, work, 0);
    return answer == 0 && mask ? runtime_flags_test(mask) : answer;
}

int64_t
runtime_matmul(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work, int64_t size,
               int64_t mask)
{
    if (products_known() && product_is_small((const int64_t *)pointers, (const npy_intp *)dims)) {
        const ProductShape *shape = shape_find(function, data, (const npy_intp *)dims, (const npy_intp *)steps, size);
        if (shape != NULL && shape->order != PRODUCT_UNKNOWN) {
            Product product = product_of((const int64_t *)pointers, (const npy_intp *)dims, (const npy_intp *)steps);
            int nan = product_in_order(&product, size, shape->order, shape->last);
            if (!nan && !(mask && own_status())) {
                return 0;
            }
        }
    }
    if (mask
        && gram_run(function, data, (const int64_t *)pointers, (const npy_intp *)dims, (const npy_intp *)steps, work, size)) {
        return runtime_flags_test(mask);
    }
    if (mask) {
        runtime_flags_clear();
    }
    int64_t answer = runtime_gufunc(function, data, pointers, dims, steps, work, 0);
    return answer == 0 && mask ? runtime_flags_test(mask) : answer;
}

static PyObject *
module_short_dot(PyObject *module, PyObject *args)
{
    unsigned long long function, data;
    int size, order, most = 0;
    if (!PyArg_ParseTuple(args, "KKii:short_dot", &function, &data, &size, &order)) {
        return NULL;
    }
    while (products_known() && most < PRODUCT_DEPTH) {
        const npy_intp step = most == 0 ? 0 : size;
        const npy_intp dims[4] = {1, 1, most + 1, 1}, steps[9] = {0, 0, 0, 0, step, step, 0, 0, 0};
        const ProductShape *shape = shape_find((int64_t)function, (int64_t)data, dims, steps, size);
        if (shape == NULL || !(shape->right >> order & 1)) {
            break;
        }
        most++;
    }
    return PyLong_FromLong(most);
}

PyMethodDef product_functions[] = {
    {"short_dot", module_short_dot, METH_VARARGS,
     "How long adjacent vectors may be, of floats of so many bytes, whose products a loop adds up in the order of this "
     "number."},
    {"gram_interval", module_gram_interval, METH_VARARGS,
     "After how many rows a loop begins new sums in the product of so many columns, of floats of so many bytes, with "
     "themselves; 0 where that is not known."},
    {NULL},
};
