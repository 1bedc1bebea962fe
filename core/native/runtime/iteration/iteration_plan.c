/* Iteration plan: how NumPy's iterator cuts a loop nest into pieces, from NumPy 2.3 on.
 *
 * The iterator decides once per nest. A piece has all elements of the axes inside one axis (the core)
 * and several positions on that axis. It never extends over the axes outside it. An operand that one stride does not
 * describe within a piece is copied through a buffer. A buffer has at most BUFFER_SIZE elements. The iterator picks the
 * axis of the lowest cost: (1 + buffered operands) / size of a piece. Of two axes with the same cost, it picks the
 * outer one.
 *
 * The result of a reduction has stride 0 on some axes and moves on others. The axis where it starts or stops moving may
 * be the outer axis of a piece, but not part of a core. In that case the loop is called on one core at a time. */
#include "runtime/iteration/iteration_plan.h"
#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_order_inl.h"

int iterator_plans;

/* State of the search, which visits axes from the innermost outward. */
typedef struct {
    int single[NEST_MAXOPS]; /* number of innermost axes that one stride describes */
    int turning;             /* axis where the result starts or stops moving; 0: not found yet */
    int cost;
} PlanSearch;

/* Visits the next axis outward. `reduced` is the operand that is the result of a reduction, or -1. */
static void
plan_axis(const Nest *nest, const int *cast, int reduced, int axis, PlanSearch *search)
{
    for (int op = 0; op < nest->nops; op++) {
        npy_intp within = nest->strides[axis - 1][op], stride = nest->strides[axis][op];
        if (search->single[op] == axis) {
            if (within * nest->shape[axis - 1] == stride) {
                search->single[op]++;
                continue;
            }
            search->cost += !cast[op];
        }
        if (op == reduced && (stride == 0 || within == 0)) {
            search->turning = axis;
        }
    }
}

/* True if an operand of a plan by cores goes from core to core without a buffer that holds all cores. */
static int
plan_repeats(const Nest *nest, const Plan *plan, const PlanSearch *search, const int *cast, int op, int reduced)
{
    return (op == reduced && search->turning == plan->outer) || (search->single[op] == plan->outer && !cast[op])
           || (nest->strides[plan->outer][op] == 0 && search->single[op] <= plan->outer);
}

/* Decides for each operand whether it is buffered, and computes its stride. */
static void
plan_operands(const Nest *nest, const int *cast, int reduced, const PlanSearch *search, Plan *plan)
{
    for (int op = 0; op < nest->nops; op++) {
        int repeats = plan->by_cores && plan_repeats(nest, plan, search, cast, op, reduced);
        int single = search->single[op] + repeats > plan->outer;
        plan->buffered[op] = cast[op] || !single;
        plan->strides[op] = !plan->buffered[op] ? nest->strides[0][op]
                            : repeats           ? nest->strides[plan->outer][op] == 0
                                                : !(single && nest->strides[0][op] == 0);
    }
}

void
plan_make(const Nest *nest, const int *cast, int reduced, Plan *plan)
{
    PlanSearch search = {.cost = 1};
    npy_intp size = nest->shape[0];
    for (int op = 0; op < nest->nops; op++) {
        search.single[op] = 1;
        search.cost += cast[op];
    }
    int best_cost = search.cost;
    *plan = (Plan){.outer = 0, .core = 1, .piece = size};
    for (int axis = 1; axis < nest->ndim && !search.turning && (size < BUFFER_SIZE || search.cost == 1); axis++) {
        plan_axis(nest, cast, reduced, axis, &search);
        npy_intp core = size;
        size *= nest->shape[axis];
        npy_intp held = search.cost > 1 && size > BUFFER_SIZE ? BUFFER_SIZE : size;
        if (search.cost * (double)plan->piece <= best_cost * (double)held) {
            best_cost = search.cost;
            *plan = (Plan){.outer = axis, .core = core, .piece = size};
        }
    }
    plan->by_cores = search.turning != 0 && search.turning == plan->outer;
    plan_operands(nest, cast, reduced, &search, plan);
    int buffers = 0;
    for (int op = 0; op < nest->nops; op++) {
        buffers |= plan->buffered[op];
    }
    if (buffers && plan->piece > BUFFER_SIZE) {
        plan->piece = plan->core * (BUFFER_SIZE / plan->core);
    }
}

npy_intp
plan_count(const Plan *plan, const Nest *nest, const npy_intp *index)
{
    npy_intp left = plan->core * (nest->shape[plan->outer] - index[plan->outer]);
    return left < plan->piece ? left : plan->piece;
}

/* ---- probe of the installed NumPy ---- */

/* The size of the first piece that NumPy's iterator makes of two arrays, one in C order and one in Fortran order.
 * Returns -1 with an exception set on failure. */
static npy_intp
piece_asked(PyArrayObject **arrays)
{
    npy_uint32 flags[] = {NPY_ITER_READONLY, NPY_ITER_READWRITE};
    NpyIter *iterator = NpyIter_AdvancedNew(2, arrays, NPY_ITER_EXTERNAL_LOOP | NPY_ITER_BUFFERED | NPY_ITER_GROWINNER,
                                            NPY_KEEPORDER, NPY_NO_CASTING, flags, NULL, -1, NULL, NULL, BUFFER_SIZE);
    if (iterator == NULL) {
        return -1;
    }
    npy_intp count = *NpyIter_GetInnerLoopSizePtr(iterator);
    return NpyIter_Deallocate(iterator) == NPY_SUCCEED ? count : -1;
}

int
iterator_probe(void)
{
    npy_intp shape[] = {30, 40, 50};
    int64_t c[] = {0, 0, 30, 40, 50, 2000, 50, 1}, f[] = {0, 0, 30, 40, 50, 1, 30, 1200};
    Operand operands[] = {{3, 1, c, 0}, {3, 1, f, 0}};
    PyArrayObject *arrays[] = {(PyArrayObject *)PyArray_ZEROS(3, shape, NPY_INT8, 0),
                               (PyArrayObject *)PyArray_ZEROS(3, shape, NPY_INT8, 1)}; /* owned */
    npy_intp asked = arrays[0] != NULL && arrays[1] != NULL ? piece_asked(arrays) : -1;
    Py_XDECREF(arrays[0]);
    Py_XDECREF(arrays[1]);
    if (asked < 0) {
        return -1;
    }
    Nest nest;
    Plan plan;
    int cast[] = {0, 0};
    nest_init(&nest, 3, c + DESC_SHAPE);
    nest_add(&nest, &operands[0]);
    nest_add(&nest, &operands[1]);
    plan_make(&nest, cast, -1, &plan);
    iterator_plans = asked == plan.piece;
    if (!iterator_plans && asked != BUFFER_SIZE) {
        PyErr_SetString(PyExc_ImportError, "NumPy's iterator makes unknown pieces of loops");
        return -1;
    }
    return 0;
}
