/* Execution of a ufunc's inner loop over operands of any layout.
 *
 * Loops of transcendental functions have vector and scalar paths with different
 * rounding, and choose by the strides of the call. So these are called as NumPy calls them:
 *   - once for all elements, with the operands' own strides, where NumPy needs no iterator;
 *   - otherwise in the pieces of NumPy's iterator (pieces.h), which reverses axes unless it allocates the output.
 * Loops whose bits do not depend on strides are called along axis 0, without buffers. Large calls of these, and large
 * calls for all elements, are split among threads. */
#include "runtime/ufuncs/loops.h"
#include "launcher/abi.h"
#include "runtime/arrays/allocate.h"
#include "runtime/arrays/views.h"
#include "runtime/entries.h"
#include "runtime/gil.h"
#include "runtime/gil_inl.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_order_inl.h"
#include "runtime/iteration/pieces.h"
#include "runtime/iteration/probe_ufunc.h"
#include "runtime/thread_pool.h"
#include <numpy/ufuncobject.h>
#include <string.h>

#define TILE 512 /* elements of a row that are done before those of the next rows */

#define LOOP_UNITS 16 /* work per element of transcendental functions (thread_pool.h) */

/* ---- loops whose bits do not depend on strides ---- */

/* Calls the loop on `count` elements of each row, starting at element `first`. */
static void
tile_run(const UfuncRun *run, const Nest *nest, npy_intp first, npy_intp count)
{
    npy_intp rows = nest->ndim > 1 ? nest->shape[1] : 1;
    char *pointers[NEST_MAXOPS];
    for (int op = 0; op < nest->nops; op++) {
        pointers[op] = nest->data[op] + first * nest->strides[0][op];
    }
    for (npy_intp row = 0; row < rows; row++) {
        run->function(pointers, &count, nest->strides[0], run->data);
        for (int op = 0; op < nest->nops && row + 1 < rows; op++) {
            pointers[op] += nest->strides[1][op];
        }
    }
}

/* Number of elements of a row per call: the whole row, except where an operand is transposed, as in a + a.T. There the
 * next rows need the cache lines that this row has read. */
static npy_intp
tile_of(const Nest *nest)
{
    for (int op = 0; op < nest->nops && nest->ndim > 1; op++) {
        npy_intp inner = intp_abs(nest->strides[0][op]), outer = intp_abs(nest->strides[1][op]);
        if (outer < inner && outer != 0) {
            return TILE;
        }
    }
    return nest->shape[0];
}

static void
rows_run(const UfuncRun *run, Nest *nest)
{
    npy_intp index[NEST_MAXDIMS] = {0}, tile = tile_of(nest);
    do {
        for (npy_intp first = 0; first < nest->shape[0]; first += tile) {
            npy_intp left = nest->shape[0] - first;
            tile_run(run, nest, first, left < tile ? left : tile);
        }
    } while (nest_next(nest, index, 2));
}

static void
exact_part(int64_t begin, int64_t end, int64_t *arguments, void *Py_UNUSED(buffer))
{
    Nest nest;
    nest_part(&nest, (const Nest *)arguments[1], begin, end);
    rows_run((const UfuncRun *)arguments[0], &nest);
}

static void
exact_run(const UfuncRun *run, Nest *nest)
{
    int perm[NEST_MAXDIMS], leading = run->flags & UFUNC_FRESH ? run->nin : run->nargs;
    if (nest->ndim > 1) {
        nest_order(nest, leading, perm);
        nest_permute(nest, perm);
        if (!(run->flags & UFUNC_FRESH)) { /* NumPy goes forward through outputs that it allocates */
            nest_flip(nest, leading);
        }
    }
    nest_coalesce(nest);
    if (run->least == 0 || nest_count(nest) * run->nargs < run->least) {
        rows_run(run, nest);
        return;
    }
    int64_t arguments[] = {(int64_t)run, (int64_t)nest};
    pool_run(exact_part, arguments, nest->shape[nest->ndim - 1], nest->ndim == 1 ? SHARED_ALIGN : 1,
             nest_count(nest) * run->nargs, run->least);
}

/* ---- calls without an iterator ---- */

/* True if whole operands of one element get stride 0, as before NumPy 1.21. Set by loops_probe. */
static int single_stays;

/* True if a 0-d out= operand gets stride 0, as before NumPy 1.23. Set by loops_probe. */
static int output_stays;

/* The stride of an operand in a call without NumPy's iterator. */
static npy_intp
plain_stride(const Operand *operand)
{
    return operand->ndim == 1 ? operand->desc[DESC_SHAPE + 1] : operand->itemsize;
}

/* True if each operand is a 0-d input or has the output's shape, and all with two or more axes are contiguous in one
 * order. */
static int
is_plain(const UfuncRun *run)
{
    const Operand *out = &run->operands[run->nin];
    int orders = ORDER_C | ORDER_F;
    if (run->nargs - run->nin != 1 || run->nin > 2) {
        return 0;
    }
    for (int op = 0; op < run->nargs; op++) {
        const Operand *operand = &run->operands[op];
        if (run->cast[op]) {
            return 0;
        }
        if (operand->ndim == 0 && op < run->nin) {
            continue;
        }
        if (operand->ndim != out->ndim
            || memcmp(operand->desc + DESC_SHAPE, out->desc + DESC_SHAPE, out->ndim * sizeof(int64_t)) != 0) {
            return 0;
        }
        orders &= operand->ndim > 1 ? operand_orders(operand) : orders;
    }
    return orders != 0 && !(out->ndim == 1 && plain_stride(out) < out->itemsize && plain_stride(out) != 0);
}

typedef struct {
    const UfuncRun *run;
    char *pointers[NEST_MAXOPS];
    npy_intp strides[NEST_MAXOPS];
} Plain;

static void
plain_part(int64_t begin, int64_t end, int64_t *arguments, void *Py_UNUSED(buffer))
{
    const Plain *plain = (const Plain *)arguments;
    char *pointers[NEST_MAXOPS];
    npy_intp strides[NEST_MAXOPS], count = end - begin;
    for (int op = 0; op < plain->run->nargs; op++) {
        pointers[op] = plain->pointers[op] + begin * plain->strides[op];
        strides[op] = plain->strides[op];
    }
    plain->run->function(pointers, &count, strides, plain->run->data);
}

/* True if no element is written from which another one is computed. */
static int
is_elementwise(const UfuncRun *run)
{
    const Operand *out = &run->operands[run->nin];
    int64_t low, high, out_low, out_high;
    desc_extent(out->desc, out->ndim, out->itemsize, &out_low, &out_high);
    for (int op = 0; op < run->nin; op++) {
        const Operand *in = &run->operands[op];
        desc_extent(in->desc, in->ndim, in->itemsize, &low, &high);
        if (low < out_high && out_low < high
            && (in->ndim != out->ndim || !runtime_same((int64_t)in->desc, (int64_t)out->desc, out->ndim))) {
            return 0;
        }
    }
    return 1;
}

static void
plain_run(const UfuncRun *run, npy_intp count)
{
    Plain plain = {run, {NULL}, {0}};
    int unmoved = run->flags & UFUNC_FRESH || !output_stays ? run->nin : run->nargs;
    for (int op = 0; op < run->nargs; op++) {
        const Operand *operand = &run->operands[op];
        plain.pointers[op] = (char *)operand->desc[DESC_DATA];
        int stays = (operand->ndim == 0 && op < unmoved) || (count == 1 && single_stays && !(run->flags & UFUNC_PART));
        plain.strides[op] = stays ? 0 : plain_stride(operand);
    }
    if (run->least == 0 || !is_elementwise(run)) {
        plain_part(0, count, (int64_t *)&plain, NULL);
        return;
    }
    pool_run(plain_part, (int64_t *)&plain, count, SHARED_ALIGN, count * LOOP_UNITS, run->least);
}

/* The stride of the output in the last call of the probe's ufunc. */
static npy_intp probed_stride;

static void
probe_loop(char **pointers, const npy_intp *Py_UNUSED(count), const npy_intp *strides, void *Py_UNUSED(data))
{
    *(double *)pointers[1] = 0.0;
    probed_stride = strides[1];
}

/* Call the probe's ufunc on arrays of one element, with an output if `writes`. Returns whether the output has stride 0, or
 * -1 with an exception set. */
static int
stride_asked(int ndim, int writes)
{
    npy_intp shape[] = {1};
    PyArrayObject *array = (PyArrayObject *)PyArray_ZEROS(ndim, shape, NPY_DOUBLE, 0);                  /* owned */
    PyArrayObject *output = writes ? (PyArrayObject *)PyArray_ZEROS(ndim, shape, NPY_DOUBLE, 0) : NULL; /* owned */
    int failed = array == NULL || (writes && output == NULL);
    PyArrayObject *result = failed ? NULL : probe_ufunc_call(probe_loop, 1, array, output); /* owned */
    Py_XDECREF(array);
    Py_XDECREF(output);
    Py_XDECREF(result);
    return result != NULL ? probed_stride == 0 : -1;
}

int
loops_probe(void)
{
    single_stays = stride_asked(1, 0);
    output_stays = stride_asked(0, 1);
    return single_stays < 0 || output_stays < 0 ? -1 : 0;
}

/* ---- outputs that overlap inputs ---- */

/* A short-lived array that wraps the operand's memory and has its item size. */
static PyObject *
operand_wrap(const Operand *operand)
{
    static const int typenums[] = {[1] = NPY_INT8, [2] = NPY_INT16, [4] = NPY_INT32, [8] = NPY_INT64, [16] = NPY_CDOUBLE};
    return array_wrap(operand->desc, operand->ndim, typenums[operand->itemsize], NULL);
}

/* NumPy's answer whether two operands may share memory. Returns -1 with an exception set on failure. Needs the GIL. */
static int
overlap_asked(const Operand *a, const Operand *b)
{
    static PyObject *decide = NULL;                                        /* owned, never released */
    PyObject *numpy = NULL, *first = NULL, *second = NULL, *answer = NULL; /* owned */
    int result = -1;
    if (decide == NULL) {
        numpy = PyImport_ImportModule("numpy");
        if (numpy == NULL || (decide = PyObject_GetAttrString(numpy, "may_share_memory")) == NULL) {
            goto done;
        }
    }
    first = operand_wrap(a);
    second = operand_wrap(b);
    if (first == NULL || second == NULL) {
        goto done;
    }
    answer = PyObject_CallFunction(decide, "OOi", first, second, 1);
    if (answer != NULL) {
        result = PyObject_IsTrue(answer);
    }
done:
    Py_XDECREF(numpy);
    Py_XDECREF(first);
    Py_XDECREF(second);
    Py_XDECREF(answer);
    return result;
}

/* True if two operands may share memory according to NumPy. Returns -1 with an exception set on failure. */
static int
operands_overlap(const Operand *a, const Operand *b)
{
    int64_t a_low, a_high, b_low, b_high;
    desc_extent(a->desc, a->ndim, a->itemsize, &a_low, &a_high);
    desc_extent(b->desc, b->ndim, b->itemsize, &b_low, &b_high);
    if (a_low >= b_high || b_low >= a_high) {
        return 0;
    }
    PyGILState_STATE gil = PyGILState_Ensure();
    int result = overlap_asked(a, b);
    PyGILState_Release(gil);
    return result;
}

/* True if reads of `in` stay ahead of writes to `out` when both are traversed from the start. */
static int
reads_ahead(const Operand *in, const Operand *out, npy_intp count)
{
    npy_intp read = count == 1 ? 0 : plain_stride(in), written = count == 1 ? 0 : plain_stride(out);
    int64_t from = in->desc[DESC_DATA], to = out->desc[DESC_DATA];
    return (read > 0 && read >= written && from >= to) || (read < 0 && read <= written && from <= to);
}

/* True if NumPy makes one call without an iterator. Returns -1 with an exception set on failure. */
static int
needs_no_iterator(const UfuncRun *run, npy_intp count)
{
    const Operand *out = &run->operands[run->nin];
    if (!is_plain(run)) {
        return 0;
    }
    for (int op = 0; op < run->nin && !(run->flags & UFUNC_FRESH); op++) {
        int overlaps = operands_overlap(&run->operands[op], out);
        if (overlaps < 0 || (overlaps && !reads_ahead(&run->operands[op], out, count))) {
            return overlaps < 0 ? -1 : 0;
        }
    }
    return 1;
}

/* True if no element is reached by two positions. Then each axis, in order of growing strides, steps beyond the extent
 * of all axes inside it. */
static int
is_apart(const Nest *nest, int op, npy_intp size)
{
    npy_intp reach = size;
    for (int done = 0; done < nest->ndim; done++) {
        int next = -1, below = 0;
        for (int axis = 0; axis < nest->ndim; axis++) {
            npy_intp stride = intp_abs(nest->strides[axis][op]);
            if (nest->shape[axis] == 1) {
                continue;
            }
            if (stride < reach) {
                below++;
            }
            else if (next < 0 || stride < intp_abs(nest->strides[next][op])) {
                next = axis;
            }
        }
        if (below != done) {
            return 0;
        }
        if (next < 0) {
            return 1;
        }
        reach += intp_abs(nest->strides[next][op]) * (nest->shape[next] - 1);
    }
    return 1;
}

/* True if NumPy's iterator computes an output in a temporary copy because it overlaps an input. Returns -1 with an
 * exception set on failure. */
static int
needs_copy(const UfuncRun *run, const Nest *nest, int out)
{
    const Operand *target = &run->operands[out];
    for (int op = 0; op < run->nin && !run->cast[out] && !(run->flags & UFUNC_FRESH); op++) {
        const Operand *source = &run->operands[op];
        int same = source->ndim == target->ndim && source->itemsize == target->itemsize && !run->cast[op]
                   && source->desc[DESC_DATA] == target->desc[DESC_DATA]
                   && memcmp(source->desc + DESC_SHAPE, target->desc + DESC_SHAPE, 2 * source->ndim * sizeof(int64_t)) == 0;
        int overlaps = same ? !is_apart(nest, out, target->itemsize) : operands_overlap(source, target);
        if (overlaps != 0) {
            return overlaps;
        }
    }
    return 0;
}

/* Redirects the output `op` to new memory that is contiguous in the order of the nest's axes. On the axes in `flipped`
 * the nest goes through it backward. Returns NULL with MemoryError set on failure. */
static char *
output_part(Nest *nest, int op, npy_intp size, int64_t flipped)
{
    char *memory = PyMem_RawMalloc(nest_count(nest) * size); /* new: the result */
    if (memory == NULL) {
        memory_error();
        return NULL;
    }
    nest->data[op] = memory;
    for (int axis = 0; axis < nest->ndim; axis++) {
        int back = flipped >> axis & 1;
        nest->strides[axis][op] = nest->shape[axis] == 1 ? 0 : back ? -size : size;
        nest->data[op] += back ? size * (nest->shape[axis] - 1) : 0;
        size *= nest->shape[axis];
    }
    return memory;
}

/* Copies an output's elements from their location in one nest to that in the other. */
static void
output_return(const Nest *from, const Nest *to, int op, npy_intp size)
{
    Nest both = *to;
    npy_intp index[NEST_MAXDIMS] = {0};
    both.nops = 2;
    both.data[0] = to->data[op];
    both.data[1] = from->data[op];
    for (int axis = 0; axis < both.ndim; axis++) {
        both.strides[axis][0] = to->strides[axis][op];
        both.strides[axis][1] = from->strides[axis][op];
    }
    nest_coalesce(&both);
    do {
        elements_copy(both.data[0], both.strides[0][0], both.data[1], both.strides[0][1], both.shape[0], size);
    } while (nest_next(&both, index, 1));
}

/* Runs the loop as NumPy's iterator does: outputs that overlap inputs are computed in temporary memory. Returns 0, or
 * -1 with an exception set. */
static int
iterator_run(const UfuncRun *run, Nest *nest)
{
    char *parts[NEST_MAXOPS] = {NULL}; /* owned */
    int perm[NEST_MAXDIMS], leading = run->flags & UFUNC_FRESH ? run->nin : run->nargs, status = -1;
    nest_order(nest, leading, perm);
    nest_permute(nest, perm);
    int64_t flipped = run->flags & UFUNC_FRESH ? 0 : nest_flip(nest, leading);
    Nest there = *nest;
    for (int op = run->nin; op < run->nargs; op++) {
        npy_intp size = run->operands[op].itemsize;
        int apart = needs_copy(run, &there, op);
        if (apart < 0 || (apart && (parts[op] = output_part(nest, op, size, flipped)) == NULL)) {
            goto done;
        }
    }
    Nest here = *nest;
    status = pieces_run(run, nest);
    for (int op = run->nin; op < run->nargs && status == 0; op++) {
        if (parts[op] != NULL) {
            output_return(&here, &there, op, run->operands[op].itemsize);
        }
    }
done:
    for (int op = run->nin; op < run->nargs; op++) {
        PyMem_RawFree(parts[op]);
    }
    return status;
}

int64_t
runtime_ufunc(int64_t frame, int64_t spec, int64_t shape, int64_t ndim)
{
    const int64_t *words = (const int64_t *)spec;
    int status = 0;
    UfuncRun run;
    Nest nest;

    run.function = (PyUFuncGenericFunction)words[0];
    run.data = (void *)words[1];
    run.nin = (int)words[2];
    run.nargs = run.nin + (int)words[3];
    run.flags = (int)(words[4] % UFUNC_LEAST);
    run.least = words[4] / UFUNC_LEAST;
    operands_read(run.operands, words + 5, run.nargs);
    nest_init(&nest, (int)ndim, (const int64_t *)shape);
    for (int op = 0; op < run.nargs; op++) {
        run.cast[op] = run.operands[op].itemsize < 0;
        run.operands[op].itemsize = intp_abs(run.operands[op].itemsize);
        nest_add(&nest, &run.operands[op]);
    }
    if (nest_count(&nest) == 0) {
        return 0;
    }
    if (run.flags & UFUNC_EXACT) {
        exact_run(&run, &nest);
    }
    else {
        npy_intp count = nest_count(&nest);
        status = needs_no_iterator(&run, count);
        if (status > 0) {
            plain_run(&run, count);
        }
        else if (status == 0) {
            status = iterator_run(&run, &nest);
        }
    }
    return status < 0 || error_is_set() ? LAUNCHER_ERROR : 0;
}
