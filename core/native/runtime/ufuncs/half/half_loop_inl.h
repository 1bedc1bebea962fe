/* What the loops for float16 share: NumPy's loop that one replaces, and numbers for probes. */
#ifndef PIJIT_RUNTIME_UFUNCS_HALF_HALF_LOOP_INL_H
#define PIJIT_RUNTIME_UFUNCS_HALF_HALF_LOOP_INL_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HALF_LOOPS_RUN 1
#define HALF_CODE __attribute__((target("avx2,fma,f16c"), optimize("O3"))) static
#else
#define HALF_LOOPS_RUN 0
#endif

#define PROBED_NUMBERS 600 /* numbers of each operand of a probe */

typedef struct {
    PyUFuncGenericFunction function; /* NumPy's loop */
    void *data;
    int is_probed, has_same_bits;
} HalfLoop;

static inline void
loop_ask(const HalfLoop *loop, char **args, const npy_intp *dimensions, const npy_intp *steps)
{
    loop->function(args, dimensions, steps, loop->data);
}

/* Numbers of different sizes, whose sums depend on the order of addition. */
static inline void
numbers_fill(npy_half *numbers, npy_intp count, uint32_t seed)
{
    for (npy_intp i = 0; i < count; i++) {
        uint32_t word = ((uint32_t)i + seed) * 2654435761u;
        numbers[i] = (npy_half)((word >> 16 & 0x83ff) | (8 + (word >> 5) % 12) << 10);
    }
}

#endif
