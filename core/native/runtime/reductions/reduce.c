/* Reductions with NumPy's bits: NumPy's inner loop, called on the same pieces as NumPy calls it.
 *
 * NumPy's reduction is its iterator over (result, operand), where the result has
 * stride 0 on reduced axes:
 *   - The axes are ordered by the operand's strides, and never reversed.
 *   - If the innermost axis is reduced, the loop is called on runs of at most `reduce_chunk` elements, which it sums
 *     pairwise. A run ends where the result element changes. It does not end where the operand's address jumps: the
 *     iterator gathers such a run in a buffer.
 *   - From NumPy 2.3 on, these runs are the pieces of iteration_plan.h: rows of any length, or elements gathered in a
 *     buffer.
 *   - Otherwise the loop adds elementwise, in the order of the reduced axis.
 * The chunk is the iterator's buffer size. A probe, not NumPy's version, tells which rule the installed NumPy
 * follows. */
#include "runtime/reductions/reduce.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/gil.h"
#include "runtime/gil_inl.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_order_inl.h"
#include "runtime/iteration/iteration_plan.h"
#include "runtime/iteration/pieces.h"
#include "runtime/reductions/half_sum.h"
#include "runtime/reductions/outer_axis.h"
#include "runtime/reductions/pairwise_sum.h"
#include "runtime/reductions/probe.h"
#include "runtime/reductions/short_rows_inl.h"
#include "runtime/runtime_inl.h"
#include "runtime/thread_pool.h"
#include <string.h>
#include <numpy/ufuncobject.h>

#define SUM_UNITS 8 /* work per element (thread_pool.h) */
#define ALL_REDUCED (-1)
#define SHORT_RUN 8 /* elements; NumPy's loop sums shorter runs of floats one by one */

npy_intp reduce_chunk = REDUCE_UNPROBED;

static int
is_reduced(const Reduction *reduction, int axis)
{
    return (int)(reduction->reduced >> axis & 1);
}

/* The result's axis for an axis of the operand that is not reduced. */
static int
result_axis(const Reduction *reduction, int axis)
{
    return axis - __builtin_popcountll((uint64_t)reduction->reduced & ((1ULL << axis) - 1));
}

/* The number of axes of the result. */
static int
result_ndim(const Reduction *reduction)
{
    return result_axis(reduction, reduction->ndim);
}

void
run_reduce(const Reduction *reduction, char *out, char *source, npy_intp stride, npy_intp count)
{
    if (sums_known && reduction->operation == COLUMNS_ADD && stride == reduction->itemsize
        && sum_add(out, source, count, reduction->typenum)) {
        return;
    }
    char *pointers[3] = {out, source, out};
    npy_intp strides[3] = {0, stride, 0};
    reduction->function(pointers, &count, strides, reduction->data);
}

/* Reduces a run along one axis, without the first `skipped` elements of the first chunk. */
static void
row_reduce(const Reduction *reduction, char *out, char *source, npy_intp stride, npy_intp length, npy_intp skipped)
{
    while (length > 0) {
        npy_intp count = length < reduce_chunk ? length : reduce_chunk;
        run_reduce(reduction, out, source + skipped * stride, stride, count - skipped);
        skipped = 0;
        source += count * stride;
        length -= count;
    }
}

typedef struct {
    const Reduction *reduction;
    char *source, *partial;
    npy_intp stride, length;
} ChunkShare;

/* Computes the sums of the chunks [begin, end). */
static void
chunks_part(int64_t begin, int64_t end, int64_t *arguments, void *Py_UNUSED(buffer))
{
    const ChunkShare *share = (const ChunkShare *)arguments;
    npy_intp size = share->reduction->itemsize;
    memset(share->partial + begin * size, 0, (end - begin) * size);
    for (npy_intp number = begin; number < end; number++) {
        npy_intp start = number * reduce_chunk, left = share->length - start;
        run_reduce(share->reduction, share->partial + number * size, share->source + start * share->stride, share->stride,
                   left < reduce_chunk ? left : reduce_chunk);
    }
}

/* Like row_reduce, for a sum: threads share the chunks, whose sums are added in order. */
static void
row_sum(const Reduction *reduction, char *out, char *source, npy_intp stride, npy_intp length)
{
    npy_intp size = reduction->itemsize, count = (length + reduce_chunk - 1) / reduce_chunk;
    char *partial = PyMem_RawMalloc(count * size); /* owned */
    if (partial == NULL) {
        row_reduce(reduction, out, source, stride, length, 0);
        return;
    }
    ChunkShare share = {reduction, source, partial, stride, length};
    pool_run(chunks_part, (int64_t *)&share, count, 1, length * SUM_UNITS, reduction->least);
    for (npy_intp number = 0; number < count; number++) {
        run_reduce(reduction, out, partial + number * size, size, 1);
    }
    PyMem_RawFree(partial);
}

/* Reduces all axes of an operand that does not coalesce into one axis: gathers runs in a buffer. Returns 0, or -1 with
 * MemoryError set. */
static int
gathered_reduce(const Reduction *reduction, Nest *nest, char *out, npy_intp skipped)
{
    npy_intp index[NEST_MAXDIMS] = {0};
    npy_intp size = reduction->itemsize, length = nest->shape[0], stride = nest->strides[0][0], filled = 0;
    char *buffer = PyMem_RawMalloc(reduce_chunk * size); /* owned */
    int more = 1;
    if (buffer == NULL) {
        memory_error();
        return -1;
    }
    while (more) {
        const char *row = nest->data[0];
        more = nest_next(nest, index, 1);
        for (npy_intp start = 0; start < length;) {
            npy_intp count = length - start < reduce_chunk - filled ? length - start : reduce_chunk - filled;
            elements_copy(buffer + filled * size, size, row + start * stride, stride, count, size);
            start += count;
            filled += count;
            if (filled == reduce_chunk || (!more && start == length)) {
                run_reduce(reduction, out, buffer + skipped * size, size, filled - skipped);
                filled = skipped = 0;
            }
        }
    }
    PyMem_RawFree(buffer);
    return 0;
}

/* True if the iterator is at the first elements of a result: at index 0 of all axes on which the result has stride
 * 0. */
static int
result_begins(const Nest *nest, const npy_intp *index)
{
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->strides[axis][1] == 0 && index[axis] != 0) {
            return 0;
        }
    }
    return 1;
}

/* Reduces by a plan that gathers runs of the operand. Returns 0, or -1 with MemoryError set. */
static int
planned_reduce(const Reduction *reduction, Nest *nest, const Plan *plan, npy_intp skipped)
{
    npy_intp index[NEST_MAXDIMS] = {0}, size = reduction->itemsize;
    char *buffer = PyMem_RawMalloc(BUFFER_SIZE * size); /* owned */
    if (buffer == NULL) {
        memory_error();
        return -1;
    }
    for (npy_intp left = nest_count(nest), count; left > 0; left -= count) {
        count = plan->by_cores ? plan->core : plan_count(plan, nest, index);
        npy_intp skip = skipped && result_begins(nest, index) ? 1 : 0;
        buffer_move(nest, index, 0, buffer, size, count, 1);
        if (count > skip) {
            run_reduce(reduction, nest->data[1], buffer + skip * size, size, count - skip);
        }
        nest_skip(nest, index, count);
    }
    PyMem_RawFree(buffer);
    return 0;
}

/* Arranges the nest of operand 0 (the source) and 1 (the result, with stride 0 on reduced axes). */
static void
reduction_nest(const Reduction *reduction, Nest *nest)
{
    Operand source = {reduction->ndim, reduction->itemsize, reduction->desc};
    const int64_t *out_strides = reduction->out + DESC_SHAPE + result_ndim(reduction);
    int perm[NEST_MAXDIMS];

    nest_init(nest, reduction->ndim, reduction->desc + DESC_SHAPE);
    nest_add(nest, &source);
    nest->nops = 2;
    nest->data[1] = (char *)reduction->out[DESC_DATA];
    for (int axis = 0; axis < reduction->ndim; axis++) {
        int own = reduction->ndim - 1 - axis;
        int reduced = is_reduced(reduction, own) || nest->shape[axis] == 1;
        nest->strides[axis][1] = reduced ? 0 : out_strides[result_axis(reduction, own)];
    }
    nest_order(nest, 1, perm);
    nest_permute(nest, perm);
    nest_coalesce(nest);
}

/* Sums runs of floats that are too short for a call of NumPy's loop, and adds each sum to its result. */
static void
short_rows_add(const Reduction *reduction, Nest *nest)
{
    npy_intp index[NEST_MAXDIMS] = {0};
    npy_intp rows = nest->ndim > 1 ? nest->shape[1] : 1, count = nest->shape[0], stride = nest->strides[0][0];
    npy_intp step = nest->ndim > 1 ? nest->strides[1][0] : 0, out_step = nest->ndim > 1 ? nest->strides[1][1] : 0;
    npy_intp size = reduction->itemsize;
    int is_double = reduction->typenum == NPY_DOUBLE;
    int is_dense = SUM_CODE_RUNS && stride == size && step == count * size && out_step == size;
    do {
        npy_intp added_end = 0; /* end of the last block that is repeated by single rows */
        for (npy_intp row = 0; row < rows;) {
            char *out = nest->data[1] + row * out_step, *source = nest->data[0] + row * step;
            npy_intp added = is_dense && row >= added_end ? rows_block_add(out, source, count, rows - row, is_double) : 0;
            if (added > 0) {
                row += added;
                continue;
            }
            added_end = row >= added_end ? row + ROWS_BLOCK : added_end;
            if (!short_row_add(out, source, stride, count, is_double)) {
                run_reduce(reduction, out, source, stride, count);
            }
            row++;
        }
    } while (nest_next(nest, index, 2));
}

/* True if the innermost axis is a row of adjacent results, and the next one is reduced. */
static int
is_by_columns(const Reduction *reduction, const Nest *nest)
{
    npy_intp size = reduction->itemsize;
    return nest->ndim > 1 && nest->strides[0][0] == size && nest->strides[0][1] == size && nest->strides[1][1] == 0
           && nest->shape[1] >= COLUMNS_FEWEST && nest->shape[0] * size <= COLUMNS_WIDEST
           && rows_combiner(reduction->operation, reduction->typenum) != NULL;
}

/* Reduces along the axis next to the innermost one. Returns 0 if memory is exhausted. */
static int
by_columns_reduce(const Reduction *reduction, Nest *nest)
{
    npy_intp index[NEST_MAXDIMS] = {0};
    ColumnsLoop loop = {reduction->function, reduction->data, rows_combiner(reduction->operation, reduction->typenum),
                        reduction->itemsize, reduction->operation == COLUMNS_ADD};
    int patience = COLUMNS_PATIENCE;
    char *saved = PyMem_RawMalloc(nest->shape[0] * loop.itemsize); /* owned */
    if (saved == NULL) {
        return 0;
    }
    do {
        columns_reduce(&loop, nest->data[1], nest->data[0], nest->shape[0], nest->shape[1], nest->strides[1][0], saved,
                       &patience);
    } while (nest_next(nest, index, 2));
    PyMem_RawFree(saved);
    return 1;
}

void
rows_reduce(const Reduction *reduction, Nest *nest, npy_intp skipped)
{
    npy_intp index[NEST_MAXDIMS] = {0};
    if (reduction->operation == COLUMNS_ADD && nest->strides[0][1] == 0 && nest->shape[0] < SHORT_RUN
        && (reduction->typenum == NPY_DOUBLE || reduction->typenum == NPY_FLOAT)) {
        short_rows_add(reduction, nest);
        return;
    }
    if (is_by_columns(reduction, nest) && by_columns_reduce(reduction, nest)) {
        return;
    }
    do {
        if (nest->strides[0][1] == 0) {
            row_reduce(reduction, nest->data[1], nest->data[0], nest->strides[0][0], nest->shape[0], skipped);
        }
        else {
            char *pointers[3] = {nest->data[1], nest->data[0], nest->data[1]};
            npy_intp strides[3] = {nest->strides[0][1], nest->strides[0][0], nest->strides[0][1]};
            reduction->function(pointers, &nest->shape[0], strides, reduction->data);
        }
    } while (nest_next(nest, index, 1));
}

typedef struct {
    const Reduction *reduction;
    const Nest *nest;
    npy_intp skipped;
    int axis;
} AxisShare;

static void
axis_part(int64_t begin, int64_t end, int64_t *arguments, void *Py_UNUSED(buffer))
{
    const AxisShare *share = (const AxisShare *)arguments;
    Nest part = *share->nest;
    part.shape[share->axis] = end - begin;
    for (int op = 0; op < part.nops; op++) {
        part.data[op] += begin * part.strides[share->axis][op];
    }
    rows_reduce(share->reduction, &part, share->skipped);
}

/* Like rows_reduce, but threads share the outermost axis on which the result moves. */
static void
axis_reduce(const Reduction *reduction, Nest *nest, npy_intp skipped)
{
    int axis = nest->ndim - 1;
    while (axis >= 0 && nest->strides[axis][1] == 0) {
        axis--;
    }
    if (reduction->least == 0 || axis < 0) {
        rows_reduce(reduction, nest, skipped);
        return;
    }
    AxisShare share = {reduction, nest, skipped, axis};
    pool_run(axis_part, (int64_t *)&share, nest->shape[axis], axis == 0 ? SHARED_ALIGN : 1, nest_count(nest) * SUM_UNITS,
             reduction->least);
}

/* Sets every result element to the identity, or to the first source element of its run. */
static void
result_start(const Reduction *reduction)
{
    Nest nest;
    npy_intp index[NEST_MAXDIMS] = {0};
    npy_intp half = scalar_size(reduction->typenum);
    char identity[16] = {0};

    scalar_store(identity, reduction->typenum, reduction->identity);
    if (scalar_is_complex(reduction->typenum)) {
        memset(identity + half, 0, half);
    }
    nest_init(&nest, reduction->ndim, reduction->desc + DESC_SHAPE);
    nest.nops = 2;
    nest.data[0] = (char *)reduction->desc[DESC_DATA];
    nest.data[1] = (char *)reduction->out[DESC_DATA];
    for (int axis = 0; axis < reduction->ndim; axis++) {
        int own = reduction->ndim - 1 - axis;
        int reduced = is_reduced(reduction, own);
        nest.shape[axis] = reduced ? 1 : nest.shape[axis];
        nest.strides[axis][0] = reduced || reduction->has_identity ? 0 : reduction->desc[DESC_SHAPE + reduction->ndim + own];
        nest.strides[axis][1] = reduced ? 0
                                        : reduction->out[DESC_SHAPE + result_ndim(reduction) + result_axis(reduction, own)];
    }
    if (reduction->has_identity) {
        nest.data[0] = identity;
    }
    nest_coalesce(&nest);
    do {
        elements_copy(nest.data[1], nest.strides[0][1], nest.data[0], nest.strides[0][0], nest.shape[0], reduction->itemsize);
    } while (nest_next(&nest, index, 1));
}

static int64_t
extent_size(const int64_t *desc, int ndim)
{
    int64_t size = 1;
    for (int axis = 0; axis < ndim; axis++) {
        size *= desc[DESC_SHAPE + axis];
    }
    return size;
}

/* Stores in `rest` the operand without its first element along one axis. */
static void
rest_describe(const Reduction *reduction, int axis, int64_t *rest)
{
    memcpy(rest, reduction->desc, (DESC_SHAPE + 2 * reduction->ndim) * sizeof(int64_t));
    rest[DESC_DATA] += rest[DESC_SHAPE + reduction->ndim + axis];
    rest[DESC_SHAPE + axis]--;
}

/* Returns 0, or -1 with an exception set. A reduction without an identity must be over all axes, or over one. */
static int
reduction_run(Reduction *reduction)
{
    Nest nest;
    npy_intp skipped = reduction->has_identity ? 0 : 1;
    int64_t rest[DESC_SHAPE + 2 * NEST_MAXDIMS];
    int64_t size = extent_size(reduction->desc, reduction->ndim);

    if (reduction->reduced != ALL_REDUCED && extent_size(reduction->out, result_ndim(reduction)) == 0) {
        return 0;
    }
    if (size == 0 && !reduction->has_identity) {
        error_set(PyExc_ValueError, "zero-size array to a reduction without an identity");
        return -1;
    }
    result_start(reduction);
    if (size == 0) {
        return 0;
    }
    reduction_nest(reduction, &nest);
    if (reduction->source != reduction->typenum) {
        return half_sum(reduction, &nest);
    }
    /* a chunk's sum of float16 is rounded only after it is added to the result */
    if (reduction->reduced == ALL_REDUCED && nest.ndim == 1 && reduction->operation == COLUMNS_ADD && reduction->least != 0
        && reduction->typenum != NPY_HALF && reduce_chunk != WHOLE_ROWS && nest.shape[0] * SUM_UNITS >= reduction->least) {
        row_sum(reduction, nest.data[1], nest.data[0], nest.strides[0][0], nest.shape[0]);
        return 0;
    }
    if (iterator_plans && nest.ndim > 1 && nest.strides[0][1] == 0) {
        static const int cast[] = {0, 0};
        Plan plan;
        plan_make(&nest, cast, 1, &plan);
        if (plan.buffered[0]) {
            return planned_reduce(reduction, &nest, &plan, skipped);
        }
    }
    else if (reduction->reduced == ALL_REDUCED && nest.ndim > 1) {
        return gathered_reduce(reduction, &nest, nest.data[1], skipped);
    }
    if (skipped && nest.strides[0][1] != 0) {
        /* Elementwise: the result already has the first element of each run. */
        int axis = __builtin_ctzll((uint64_t)reduction->reduced);
        if (reduction->desc[DESC_SHAPE + axis] == 1) {
            return 0;
        }
        rest_describe(reduction, axis, rest);
        reduction->desc = rest;
        reduction_nest(reduction, &nest);
        skipped = 0;
    }
    axis_reduce(reduction, &nest, skipped);
    return 0;
}

int64_t
runtime_reduce(int64_t frame, int64_t spec)
{
    const int64_t *words = (const int64_t *)spec;
    Reduction reduction = {
        (PyUFuncGenericFunction)words[0],
        (void *)words[1],
        (int)words[2],
        value_size((int)words[2]),
        (int)words[3],
        (const int64_t *)words[4],
        words[5],
        words[6] != 0,
        words[7],
        (int64_t *)words[8],
        words[9],
        (int)words[10],
        (int)words[11],
    };
    if (reduce_chunk == REDUCE_UNPROBED) {
        PyGILState_STATE gil = PyGILState_Ensure();
        int probed = reduce_probe();
        PyGILState_Release(gil);
        if (probed < 0) {
            return LAUNCHER_ERROR;
        }
    }
    if (reduce_chunk == REDUCE_UNKNOWN) {
        error_set(PyExc_SystemError, "reduce called where reduce_supported says no");
        return LAUNCHER_ERROR;
    }
    return reduction_run(&reduction) < 0 || error_is_set() ? LAUNCHER_ERROR : OK;
}
