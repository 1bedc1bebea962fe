/* Calls of a ufunc's inner loop on the pieces that NumPy's iterator makes.
 *
 * iteration_plan.h describes the pieces from NumPy 2.3 on. In earlier versions a piece has at most BUFFER_SIZE
 * elements, or more where one row has more and nothing is copied. An operand that one stride describes is passed as it
 * is. Other operands are passed as they are if one row contains the whole piece. Otherwise they are copied through
 * contiguous buffers. */
#include "runtime/iteration/pieces.h"
#include "launcher/abi.h"
#include "runtime/gil.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_plan.h"
#include <string.h>
#include <numpy/ufuncobject.h>

#define BUFFER_GAP 64 /* bytes; loops treat adjacent memory as overlapping */

/* How an operand is passed. `direct`: with one stride for all elements. Otherwise each piece decides. */
typedef struct {
    int direct;
    npy_intp stride;
    npy_intp size;
    char *buffer; /* part of one block; NULL if direct */
} Passing;

npy_intp
nest_count(const Nest *nest)
{
    npy_intp count = 1;
    for (int axis = 0; axis < nest->ndim; axis++) {
        count *= nest->shape[axis];
    }
    return count;
}

void
nest_skip(Nest *nest, npy_intp *index, npy_intp count)
{
    for (int axis = 0; axis < nest->ndim && count > 0; axis++) {
        npy_intp reached = index[axis] + count, now = reached % nest->shape[axis];
        for (int op = 0; op < nest->nops; op++) {
            nest->data[op] += (now - index[axis]) * nest->strides[axis][op];
        }
        index[axis] = now;
        count = reached / nest->shape[axis];
    }
}

void
buffer_move(const Nest *nest, const npy_intp *position, int op, char *buffer, npy_intp size, npy_intp count, int reads)
{
    npy_intp index[NEST_MAXDIMS], stride = nest->strides[0][op];
    char *place = nest->data[op];
    memcpy(index, position, nest->ndim * sizeof(npy_intp));
    while (count > 0) {
        npy_intp run = nest->shape[0] - index[0] < count ? nest->shape[0] - index[0] : count;
        if (reads) {
            elements_copy(buffer, size, place, stride, run, size);
        }
        else {
            elements_copy(place, stride, buffer, size, run, size);
        }
        buffer += run * size;
        place += run * stride;
        count -= run;
        index[0] += run;
        for (int axis = 0; axis + 1 < nest->ndim && index[axis] == nest->shape[axis]; axis++) {
            place += nest->strides[axis + 1][op] - nest->shape[axis] * nest->strides[axis][op];
            index[axis] = 0;
            index[axis + 1]++;
        }
    }
}

/* Finds the stride by which an operand goes through all elements. Leaves `passing->direct` 0 if there is none. */
static void
passing_find(Passing *passing, const UfuncRun *run, const Nest *nest, int op)
{
    npy_intp length = 0;
    *passing = (Passing){0, 0, run->operands[op].itemsize, NULL};
    if (run->cast[op] || (nest->ndim > 1 && run->operands[op].ndim == 0)) {
        return;
    }
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] == 1) {
            continue;
        }
        if (length == 0) {
            passing->stride = nest->strides[axis][op];
            length = nest->shape[axis];
        }
        else if (nest->strides[axis][op] != passing->stride * length) {
            return;
        }
        else {
            length *= nest->shape[axis];
        }
    }
    passing->direct = 1;
}

/* Allocates one buffer for each operand that may need one. The caller owns the block. Returns 0, or -1 with MemoryError
 * set. */
static int
buffers_make(const UfuncRun *run, Passing *passings, npy_intp length, char **block)
{
    npy_intp size = 0;
    for (int op = 0; op < run->nargs; op++) {
        size += passings[op].direct ? 0 : passings[op].size * length + BUFFER_GAP;
    }
    *block = size == 0 ? NULL : PyMem_RawMalloc(size);
    if (*block == NULL && size != 0) {
        memory_error();
        return -1;
    }
    char *next = *block;
    for (int op = 0; op < run->nargs; op++) {
        if (!passings[op].direct) {
            passings[op].buffer = next;
            next += passings[op].size * length + BUFFER_GAP;
        }
    }
    return 0;
}

/* Calls the loop on the elements from the nest's position on. Returns the number of elements. */
static npy_intp
piece_run(const UfuncRun *run, const Nest *nest, const npy_intp *index, const Passing *passings, npy_intp left)
{
    char *pointers[NEST_MAXOPS];
    npy_intp strides[NEST_MAXOPS], count = left < BUFFER_SIZE ? left : BUFFER_SIZE, row = nest->shape[0] - index[0];
    int grows = 1, buffered[NEST_MAXOPS];
    for (int op = 0; op < run->nargs; op++) {
        const Passing *passing = &passings[op];
        buffered[op] = !passing->direct && (run->cast[op] || row < count);
        pointers[op] = buffered[op] ? passing->buffer : nest->data[op];
        strides[op] = buffered[op] ? passing->size : passing->direct ? passing->stride : nest->strides[0][op];
        grows &= !buffered[op] || (op >= run->nin && !run->cast[op]);
        if (buffered[op] && op < run->nin) {
            buffer_move(nest, index, op, passing->buffer, passing->size, count, 1);
        }
    }
    count = grows && row > count ? row : count;
    npy_intp called = count;
    run->function(pointers, &called, strides, run->data);
    for (int op = run->nin; op < run->nargs; op++) {
        if (buffered[op]) {
            buffer_move(nest, index, op, passings[op].buffer, passings[op].size, count, 0);
        }
    }
    return count;
}

/* Iterates over the nest as NumPy's iterator does up to NumPy 2.2. */
static int
rolling_run(const UfuncRun *run, Nest *nest)
{
    npy_intp index[NEST_MAXDIMS] = {0}, left = nest_count(nest);
    Passing passings[NEST_MAXOPS];
    char *block; /* owned */
    for (int op = 0; op < run->nargs; op++) {
        passing_find(&passings[op], run, nest, op);
    }
    nest_coalesce(nest);
    if (buffers_make(run, passings, left < BUFFER_SIZE ? left : BUFFER_SIZE, &block) < 0) {
        return -1;
    }
    while (left > 0) {
        npy_intp count = piece_run(run, nest, index, passings, left);
        left -= count;
        nest_skip(nest, index, count);
    }
    PyMem_RawFree(block);
    return 0;
}

/* Calls the loop on the piece at the nest's position. */
static void
planned_piece_run(const UfuncRun *run, const Nest *nest, const npy_intp *index, const Plan *plan, char *const *buffers,
                  npy_intp count)
{
    char *pointers[NEST_MAXOPS];
    npy_intp strides[NEST_MAXOPS], called = count;
    for (int op = 0; op < run->nargs; op++) {
        npy_intp size = run->operands[op].itemsize;
        pointers[op] = plan->buffered[op] ? buffers[op] : nest->data[op];
        strides[op] = plan->buffered[op] ? plan->strides[op] * size : plan->strides[op];
        if (plan->buffered[op] && op < run->nin) {
            buffer_move(nest, index, op, buffers[op], size, count, 1);
        }
    }
    run->function(pointers, &called, strides, run->data);
    for (int op = run->nin; op < run->nargs; op++) {
        if (plan->buffered[op]) {
            buffer_move(nest, index, op, buffers[op], run->operands[op].itemsize, count, 0);
        }
    }
}

/* Iterates over the nest as NumPy's iterator does from NumPy 2.3 on. */
static int
planned_run(const UfuncRun *run, Nest *nest)
{
    npy_intp index[NEST_MAXDIMS] = {0};
    Passing passings[NEST_MAXOPS];
    char *block, *buffers[NEST_MAXOPS]; /* the block is owned */
    Plan plan;
    nest_coalesce(nest);
    plan_make(nest, run->cast, -1, &plan);
    for (int op = 0; op < run->nargs; op++) {
        passings[op] = (Passing){!plan.buffered[op], 0, run->operands[op].itemsize, NULL};
    }
    if (buffers_make(run, passings, plan.piece, &block) < 0) {
        return -1;
    }
    for (int op = 0; op < run->nargs; op++) {
        buffers[op] = passings[op].buffer;
    }
    for (npy_intp left = nest_count(nest), count; left > 0; left -= count) {
        count = plan_count(&plan, nest, index);
        planned_piece_run(run, nest, index, &plan, buffers, count);
        nest_skip(nest, index, count);
    }
    PyMem_RawFree(block);
    return 0;
}

int
pieces_run(const UfuncRun *run, Nest *nest)
{
    return iterator_plans ? planned_run(run, nest) : rolling_run(run, nest);
}
