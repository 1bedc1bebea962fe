/* Loop nests over strided operands, with axes in the order of NumPy's iterator.
 *
 * Axis 0 of a nest is the innermost. A program can observe the order by the
 * strides of an array that a ufunc allocates. It can also observe the strides that an inner loop is called with,
 * because the loop's vector and scalar paths may round differently. So the steps are those of the iterator:
 *   - a stable insertion sort of the axes by absolute stride, where C order wins conflicts;
 *   - reversal of axes on which no operand goes forward;
 *   - merging of axes that one stride describes.
 * Operands that agree in shape and contiguity never reach NumPy's iterator and get plain C or Fortran order.
 * operands_order recognises these. */
#include "runtime/iteration/iteration_order.h"
#include "launcher/abi.h"
#include "runtime/iteration/iteration_order_inl.h"
#include "runtime/iteration/probe_ufunc.h"
#include <string.h>

#define FILL_LEAST 16   /* elements; fewer are written one by one */
#define FILL_BLOCK 8192 /* bytes that are copied at once */

/* True if new empty arrays have strides other than 0, as before NumPy 1.23. Set by nest_probe. */
static int empty_strides;

/* True if NumPy's iterator allocates the results of three operands in any case, as before NumPy 1.21. It multiplies
 * strides by lengths of 0. Set by nest_probe. */
static int three_iterate;

static void
probe_loop(char **Py_UNUSED(pointers), const npy_intp *Py_UNUSED(count), const npy_intp *Py_UNUSED(strides),
           void *Py_UNUSED(data))
{
}

int
nest_probe(void)
{
    npy_intp shape[] = {0, 0};
    PyArrayObject *empty = (PyArrayObject *)PyArray_ZEROS(2, shape, NPY_DOUBLE, 0);                         /* owned */
    PyArrayObject *result = empty != NULL ? probe_ufunc_call(probe_loop, PROBE_INPUTS, empty, NULL) : NULL; /* owned */
    if (result != NULL) {
        empty_strides = PyArray_STRIDE(empty, 1) != 0;
        three_iterate = PyArray_STRIDE(result, 0) != PyArray_STRIDE(empty, 0);
    }
    Py_XDECREF(empty);
    Py_XDECREF(result);
    return result != NULL ? 0 : -1;
}

void
nest_add(Nest *nest, const Operand *operand)
{
    const int64_t *shape = operand->desc + DESC_SHAPE;
    const int64_t *strides = shape + operand->ndim;
    int op = nest->nops++;

    nest->data[op] = (char *)operand->desc[DESC_DATA];
    for (int axis = 0; axis < nest->ndim; axis++) {
        int own = operand->ndim - 1 - axis;
        int moves = own >= 0 && nest->shape[axis] != 1 && shape[own] != 1;
        nest->strides[axis][op] = moves ? strides[own] : 0;
    }
}

/* Returns 1 if axis a belongs inside axis b, -1 if it belongs outside, 0 if no operand moves along both. */
static int
axes_compare(const Nest *nest, int a, int b, int nops)
{
    int order = 0;
    for (int op = 0; op < nops; op++) {
        npy_intp inner = intp_abs(nest->strides[a][op]);
        npy_intp outer = intp_abs(nest->strides[b][op]);
        if (inner != 0 && outer != 0) {
            if (outer <= inner) {
                return -1;
            }
            order = 1;
        }
    }
    return order;
}

void
nest_order(const Nest *nest, int nops, int *perm)
{
    for (int axis = 0; axis < nest->ndim; axis++) {
        int position = axis;
        for (int i = axis - 1; i >= 0; i--) {
            int order = axes_compare(nest, axis, perm[i], nops);
            if (order < 0) {
                break;
            }
            if (order > 0) {
                position = i;
            }
        }
        for (int i = axis; i > position; i--) {
            perm[i] = perm[i - 1];
        }
        perm[position] = axis;
    }
}

/* Copies only the axes and operands that are in use, a small part of the struct. */
static void
nest_copy(Nest *copy, const Nest *nest)
{
    copy->ndim = nest->ndim;
    copy->nops = nest->nops;
    memcpy(copy->shape, nest->shape, nest->ndim * sizeof(npy_intp));
    memcpy(copy->data, nest->data, nest->nops * sizeof(char *));
    for (int axis = 0; axis < nest->ndim; axis++) {
        memcpy(copy->strides[axis], nest->strides[axis], nest->nops * sizeof(npy_intp));
    }
}

void
nest_permute(Nest *nest, const int *perm)
{
    Nest old;
    nest_copy(&old, nest);
    for (int axis = 0; axis < nest->ndim; axis++) {
        nest->shape[axis] = old.shape[perm[axis]];
        memcpy(nest->strides[axis], old.strides[perm[axis]], nest->nops * sizeof(npy_intp));
    }
}

int64_t
nest_flip(Nest *nest, int nops)
{
    int64_t flipped = 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        int backward = 0, forward = 0;
        for (int op = 0; op < nops; op++) {
            backward |= nest->strides[axis][op] < 0;
            forward |= nest->strides[axis][op] > 0;
        }
        if (!backward || forward) {
            continue;
        }
        flipped |= (int64_t)1 << axis;
        for (int op = 0; op < nest->nops; op++) {
            nest->data[op] += nest->strides[axis][op] * (nest->shape[axis] - 1);
            nest->strides[axis][op] = -nest->strides[axis][op];
        }
    }
    return flipped;
}

static int
axes_merge(const Nest *nest, int inner, int outer)
{
    for (int op = 0; op < nest->nops; op++) {
        npy_intp a = nest->strides[inner][op], b = nest->strides[outer][op];
        int unmoved = (nest->shape[inner] == 1 && a == 0) || (nest->shape[outer] == 1 && b == 0);
        if (!unmoved && a * nest->shape[inner] != b) {
            return 0;
        }
    }
    return 1;
}

void
nest_coalesce(Nest *nest)
{
    int last = 0;
    if (nest->ndim == 0) {
        nest->shape[0] = 1;
        memset(nest->strides[0], 0, sizeof(nest->strides[0]));
        nest->ndim = 1;
        return;
    }
    for (int axis = 1; axis < nest->ndim; axis++) {
        if (axes_merge(nest, last, axis)) {
            for (int op = 0; op < nest->nops; op++) {
                if (nest->strides[last][op] == 0) {
                    nest->strides[last][op] = nest->strides[axis][op];
                }
            }
            nest->shape[last] *= nest->shape[axis];
        }
        else {
            last++;
            nest->shape[last] = nest->shape[axis];
            memmove(nest->strides[last], nest->strides[axis], nest->nops * sizeof(npy_intp));
        }
    }
    nest->ndim = last + 1;
}

int
nest_next(Nest *nest, npy_intp *index, int first)
{
    for (int axis = first; axis < nest->ndim; axis++) {
        int wraps = ++index[axis] == nest->shape[axis];
        npy_intp steps = wraps ? 1 - nest->shape[axis] : 1;
        for (int op = 0; op < nest->nops; op++) {
            nest->data[op] += steps * nest->strides[axis][op];
        }
        if (!wraps) {
            return 1;
        }
        index[axis] = 0;
    }
    return 0;
}

void
nest_part(Nest *part, const Nest *nest, npy_intp begin, npy_intp end)
{
    int last = nest->ndim - 1;
    nest_copy(part, nest);
    part->shape[last] = end - begin;
    for (int op = 0; op < nest->nops; op++) {
        part->data[op] += begin * nest->strides[last][op];
    }
}

/* Writes one element `count` times, by copies of what was written. The block that is copied stays in the first cache. */
static void
elements_fill(char *target, const char *source, npy_intp count, npy_intp size)
{
    npy_intp bytes = count * size, block = FILL_BLOCK / size * size;
    memcpy(target, source, size);
    for (npy_intp done = size; done < bytes;) {
        npy_intp some = done < block ? done : block;
        some = some < bytes - done ? some : bytes - done;
        memcpy(target + done, target, some);
        done += some;
    }
}

void
elements_copy(char *target, npy_intp target_stride, const char *source, npy_intp source_stride, npy_intp count, npy_intp size)
{
    if (source_stride == 0 && target_stride == size && count >= FILL_LEAST && size > 0 && size <= FILL_BLOCK) {
        elements_fill(target, source, count, size);
    }
    else if (size == 8) {
        for (npy_intp i = 0; i < count; i++) {
            memcpy(target + i * target_stride, source + i * source_stride, 8);
        }
    }
    else if (size == 4) {
        for (npy_intp i = 0; i < count; i++) {
            memcpy(target + i * target_stride, source + i * source_stride, 4);
        }
    }
    else {
        for (npy_intp i = 0; i < count; i++) {
            memcpy(target + i * target_stride, source + i * source_stride, size);
        }
    }
}

/* ---- layouts ---- */

int
operand_orders(const Operand *operand)
{
    const int64_t *shape = operand->desc + DESC_SHAPE;
    const int64_t *strides = shape + operand->ndim;
    npy_intp c = operand->itemsize, f = operand->itemsize;
    int orders = ORDER_C | ORDER_F;

    for (int i = 0; i < operand->ndim; i++) {
        int j = operand->ndim - 1 - i;
        if (shape[i] == 0) {
            return ORDER_C | ORDER_F;
        }
        if (shape[i] != 1) {
            orders &= strides[i] == f ? ~0 : ~ORDER_F;
            f *= shape[i];
        }
        if (shape[j] != 1) {
            orders &= strides[j] == c ? ~0 : ~ORDER_C;
            c *= shape[j];
        }
    }
    return orders;
}

int
operands_order(const Operand *operands, int nops)
{
    const Operand *first = NULL;
    int orders = ORDER_C | ORDER_F;

    if (nops > 2 && three_iterate) {
        return 0;
    }
    for (int op = 0; op < nops; op++) {
        const Operand *operand = &operands[op];
        if (operand->ndim == 0) {
            continue;
        }
        if (first == NULL) {
            first = operand;
        }
        if (operand->ndim != first->ndim
            || memcmp(operand->desc + DESC_SHAPE, first->desc + DESC_SHAPE, operand->ndim * sizeof(int64_t)) != 0) {
            return 0;
        }
        if (operand->ndim > 1) {
            orders &= operand->itemsize == 0 ? 0 : operand_orders(operand);
        }
    }
    return orders & ORDER_C ? ORDER_C : orders;
}

/* Computes contiguous strides for a new array of the shape in desc. */
static void
strides_fill(int64_t *desc, int ndim, npy_intp itemsize, int order)
{
    int64_t *shape = desc + DESC_SHAPE;
    npy_intp stride = itemsize;
    for (int i = 0; i < ndim; i++) {
        int axis = order == ORDER_F ? i : ndim - 1 - i;
        shape[ndim + axis] = stride;
        stride *= shape[axis] != 0 ? shape[axis] : 1;
    }
}

void
strides_like(int64_t *desc, int ndim, npy_intp itemsize, const Operand *operands, int nops)
{
    int order = operands_order(operands, nops);
    for (int axis = 0; axis < ndim && !empty_strides; axis++) {
        if (desc[DESC_SHAPE + axis] == 0) {
            memset(desc + DESC_SHAPE + ndim, 0, ndim * sizeof(int64_t));
            return;
        }
    }
    if (order != 0) {
        strides_fill(desc, ndim, itemsize, order);
        return;
    }
    Nest nest;
    int perm[NEST_MAXDIMS];
    nest_init(&nest, ndim, desc + DESC_SHAPE);
    for (int op = 0; op < nops; op++) {
        nest_add(&nest, &operands[op]);
    }
    nest_order(&nest, nops, perm);
    npy_intp stride = itemsize;
    for (int i = 0; i < ndim; i++) {
        desc[DESC_SHAPE + ndim + ndim - 1 - perm[i]] = stride;
        stride *= nest.shape[perm[i]];
    }
}
