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
doubles_leaf(const double *source, npy_intp count)
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
floats_leaf(const float *source, npy_intp count)
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

/* Sums a run of at least SUM_LANES elements. */
#define SUM_BY_HALVES(type, name, leaf) \
    SUM_CODE type name(const type *source, npy_intp count) \
    { \
        if (count <= SUM_LEAF) { \
            return leaf(source, count); \
        } \
        npy_intp half = count / 2 - count / 2 % SUM_LANES; \
        return name(source, half) + name(source + half, count - half); \
    }

SUM_BY_HALVES(double, doubles_sum, doubles_leaf)
SUM_BY_HALVES(float, floats_sum, floats_leaf)

int sums_known = 0;

int
sum_add(char *out, const char *source, npy_intp count, int typenum)
{
    if (count >= SUM_LANES && typenum == NPY_DOUBLE) {
        double sum = doubles_sum((const double *)source, count);
        if (sum != sum) {
            return 0;
        }
        *(double *)out += sum;
        return 1;
    }
    if (count >= SUM_LANES && typenum == NPY_FLOAT) {
        float sum = floats_sum((const float *)source, count);
        if (sum != sum) {
            return 0;
        }
        *(float *)out += sum;
        return 1;
    }
    return 0;
}

#define PROBED_LENGTHS {8, 9, 15, 127, 128, 129, 136, 137, 255, 256, 257, 271, 1000, 4103, 8191, 8192}

#define SUMS_AGREE(type, typenum, scale) \
    for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) { \
        type *numbers = (type *)values, expected = 0, found = 0; \
        for (npy_intp i = 0; i < lengths[k]; i++) { \
            numbers[i] = (type)((double)(int32_t)((uint32_t)(i + lengths[k]) * 2654435761u) / (scale)); \
        } \
        char *pointers[3] = {(char *)&expected, (char *)values, (char *)&expected}; \
        npy_intp strides[3] = {0, sizeof(type), 0}; \
        function(pointers, &lengths[k], strides, data); \
        if (!sum_add((char *)&found, (char *)values, lengths[k], typenum) || found != expected) { \
            return 0; \
        } \
    }

int
sums_agree(PyUFuncGenericFunction function, void *data, int typenum, void *values)
{
    npy_intp lengths[] = PROBED_LENGTHS;
    if (typenum == NPY_DOUBLE) {
        SUMS_AGREE(double, NPY_DOUBLE, 3.0)
    }
    else {
        SUMS_AGREE(float, NPY_FLOAT, 3.0)
    }
    return 1;
}
