/* Running sums and products of float16 numbers, with NumPy's bits and flags.
 *
 * NumPy computes each result in float32 and rounds it. The processor's conversions need a third of the time of NumPy's.
 * Once a result is NaN, all later ones are this NaN, unless another operand is NaN as well. In that case the machine code
 * of NumPy's loop decides which of them results. */
#include "runtime/ufuncs/half/half_scans.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/half_inl.h"
#include "runtime/ufuncs/half/half_loop_inl.h"

#if HALF_LOOPS_RUN
#include <immintrin.h>

#define QUIET 0x200u /* the bit of a NaN that raises no flag */

static int
half_is_nan(npy_half number)
{
    return (number & ~HALF_SIGN) > HALF_EXPONENT;
}

/* Sums that are tiny are exact. */
HALF_CODE inline int
sum_is_lost(float exact, npy_half rounded)
{
    return 0;
}

/* True if NumPy reports an underflow: a product is tiny before it is rounded, and changes. */
HALF_CODE inline int
product_is_lost(float exact, npy_half rounded)
{
    float size = exact < 0 ? -exact : exact;
    return __builtin_expect(size < 0x1p-14f, 0) && _cvtsh_ss(rounded) != exact;
}

static void
underflow_raise(void)
{
    volatile float tiny = 0x1p-100f;
    tiny = tiny * tiny;
}

#define NAME sums_scan
#define SYMBOL +
#define IS_LOST sum_is_lost
#include "runtime/ufuncs/half/half_scan.inc"

#define NAME products_scan
#define SYMBOL *
#define IS_LOST product_is_lost
#include "runtime/ufuncs/half/half_scan.inc"

int64_t
runtime_half_scan(int64_t operation, int64_t out, int64_t source, int64_t stride, int64_t count)
{
    npy_half *results = (npy_half *)out;
    const char *numbers = (const char *)source;
    results[0] = *(const npy_half *)numbers;
    if (half_is_nan(results[0])) {
        return 1;
    }
    npy_intp done = (operation == HALF_SCAN_MULTIPLY ? products_scan : sums_scan)(results, numbers, stride, count);
    for (npy_intp i = done; i < count; i++) {
        if (half_is_nan(*(const npy_half *)(numbers + i * stride))) {
            return 1;
        }
        results[i] = results[done - 1] | QUIET;
    }
    return 0;
}

int
half_scans_run(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
}

#else
int64_t
runtime_half_scan(int64_t operation, int64_t out, int64_t source, int64_t stride, int64_t count)
{
    return 1;
}

int
half_scans_run(void)
{
    return 0;
}

#endif
