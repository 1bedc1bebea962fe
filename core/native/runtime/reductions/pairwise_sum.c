/* Pairwise sums of floats, in the order of NumPy's loop for np.add but with wider vectors.
 *
 * NumPy's loop sums pairwise: it halves a run until at most 128 elements are left. It sums these in eight partial sums,
 * each of every eighth element. NumPy uses instructions of the oldest supported processors, and adds one partial sum
 * after the other. Which of several NaNs is the result depends on the order of operands in machine code. So NumPy's
 * loop repeats a run whose sum is NaN. A probe tells if the installed NumPy sums this way. */
#include "runtime/reductions/pairwise_sum.h"
#include "launcher/abi.h"
#include <numpy/ufuncobject.h>
#include <string.h>

#define SUM_LANES 8  /* partial sums of a leaf; shorter runs are summed one by one */
#define SUM_LEAF 128 /* elements; longer runs are halved */

SUM_CODE double
double_leaf(const double *source, npy_intp count)
{
    DoubleLanes low = *(const DoubleLanes *)source, high = *(const DoubleLanes *)(source + 4);
    npy_intp i = SUM_LANES;
    for (; i <= count - SUM_LANES; i += SUM_LANES) {
        low += *(const DoubleLanes *)(source + i);
        high += *(const DoubleLanes *)(source + i + 4);
    }
    double total = ((low[0] + low[1]) + (low[2] + low[3])) + ((high[0] + high[1]) + (high[2] + high[3]));
    for (; i < count; i++) {
        total += source[i];
    }
    return total;
}

SUM_CODE float
float_leaf(const float *source, npy_intp count)
{
    FloatLanes sums = *(const FloatLanes *)source;
    npy_intp i = SUM_LANES;
    for (; i <= count - SUM_LANES; i += SUM_LANES) {
        sums += *(const FloatLanes *)(source + i);
    }
    float total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (; i < count; i++) {
        total += source[i];
    }
    return total;
}

#define PROBED_LENGTHS {8, 9, 15, 127, 128, 129, 136, 137, 255, 256, 257, 271, 1000, 4103, 8191, 8192}

#define REAL double
#define NAMED(x) double_##x
#include "runtime/reductions/pairwise_sum.inc"

#define REAL float
#define NAMED(x) float_##x
#include "runtime/reductions/pairwise_sum.inc"

int sums_known = 0;

int
sum_add(char *out, const char *source, npy_intp count, int typenum)
{
    if (count >= SUM_LANES && typenum == NPY_DOUBLE) {
        return double_add((double *)out, (const double *)source, count);
    }
    if (count >= SUM_LANES && typenum == NPY_FLOAT) {
        return float_add((float *)out, (const float *)source, count);
    }
    return 0;
}

int
sums_agree(PyUFuncGenericFunction function, void *data, int typenum, void *values)
{
    return typenum == NPY_DOUBLE ? double_agree(function, data, values) : float_agree(function, data, values);
}
