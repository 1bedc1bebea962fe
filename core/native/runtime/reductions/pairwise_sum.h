/* Pairwise sums of floats, in the order of NumPy's loop for np.add but with wider vectors. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_PAIRWISE_SUM_H
#define PIJIT_RUNTIME_REDUCTIONS_PAIRWISE_SUM_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SUM_CODE __attribute__((target("avx2"))) static
#define SUM_CODE_RUNS (__builtin_cpu_supports("avx2") != 0)
#else
#define SUM_CODE static
#define SUM_CODE_RUNS 1
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define LANES_CODE SUM_CODE __attribute__((optimize("O3"))) /* -O3 vectorises the loops */
#else
#define LANES_CODE SUM_CODE
#endif

typedef double DoubleLanes __attribute__((vector_size(32), aligned(8), may_alias));

typedef float FloatLanes __attribute__((vector_size(32), aligned(4), may_alias));

/* True if NumPy sums doubles and floats this way. Set by reduce_probe. */
extern int sums_known;

/* Adds `count` adjacent elements to `out`. Returns 0 if NumPy's loop must do it. */
int sum_add(char *out, const char *source, npy_intp count, int typenum);

/* True if NumPy's loop for doubles, or for floats, gives the same sums. The test numbers are scattered, so another
 * order of additions rounds differently. `values` has room for BUFFER_SIZE doubles. */
int sums_agree(PyUFuncGenericFunction function, void *data, int typenum, void *values);

#endif
