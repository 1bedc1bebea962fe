/* Powers of floats with small integer exponents, with the bits of NumPy's loop for np.power.
 *
 * This takes a fraction of the time of NumPy's loop. NumPy calls libm or Intel's vector library, which separates
 * negative bases and computes them one by one. A function with an error of hardly more than half a unit in the last
 * place returns the exact power, rounded. Powers near the middle of two floats are the exception. Here the exact power
 * is a product of pairs of floats. NumPy's loop computes powers that are near the middle or that may overflow or
 * underflow. A probe determines for which signs of the base this gives NumPy's bits. */
#include "runtime/ufuncs/power.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/indexing/masks.h"
#include <math.h>
#include <numpy/ufuncobject.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <immintrin.h>

#define POWER_BLOCK 512 /* elements that are computed at once */
#define POWER_PACKS 4   /* vectors of four elements that are computed side by side */
#define POWER_GROUP (4 * POWER_PACKS)
#define POWER_GAP 8           /* bytes between operands; loops treat adjacent memory as overlapping */
#define POWER_FEW 8           /* elements; shorter calls go to NumPy's loop unprobed */
#define POWER_FEW_NEGATIVE 64 /* separating fewer than one negative base in 64 costs more than it saves */
#define POWER_RUNS 8          /* maximum number of blocks in one call of NumPy's loop */
#define POWER_LEAST 3         /* NumPy's operator computes exponent 2 as a square and -1 as a reciprocal */
#define POWER_LEAST_INVERSE 2
#define POWER_MOST 16
#define POWER_PROBES 512 /* bases for each exponent that is probed */
#define DOUBLE_REACH 300 /* errors of the functions grow for powers above 2 ** 300 or below 2 ** -300 */
#define FLOAT_REACH 100

/* Maximum distance from a rounded power to the exact one, in halves of the last unit, that is not near the middle. Of
 * 10 ** 8 powers, NumPy's functions missed some from 0.973 on, and ten times as many for each 0.002 more. The probe
 * tests powers up to a larger distance than the code relies on. Below a power of two, floats are twice as dense. */
#define POWER_ROOM 0.94
#define POWER_ROOM_PROBED 0.97
#define POWER_ROOM_DENSE 0.5

#define VECTOR_CODE __attribute__((target("avx2,fma"), optimize("O3", "fp-contract=off")))

enum { POWER_UNPROBED, POWER_NONE, POWER_NEGATIVE, POWER_ALL };

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int trusted; /* for which bases exact powers give the bits of `function` */
} PowerLoop;

static PowerLoop power_double, power_float;

typedef struct {
    int exponent;      /* the absolute value */
    int inverse;       /* whether the exponent is negative */
    int negative_only; /* other bases are left to the loop */
    double room;
} PowerTask;

/* One function per type. Writes to `out` the exact powers, rounded, of `count` bases in whole groups. Marks in `open`
 * the elements that NumPy's loop must compute. Integer compares of bits select the bases that fit, because
 * floating-point compares raise a flag for NaN. */

static inline void
power_open(uint8_t *open, int fits)
{
    uint32_t four = ((uint32_t)(~fits & 15) * 0x204081) & 0x1010101;
    memcpy(open, &four, sizeof(four));
}

VECTOR_CODE static void
double_raise(const double *base, double *out, uint8_t *open, npy_intp count, const PowerTask *task)
{
    const __m256i least = _mm256_set1_epi64x((int64_t)(1023 - DOUBLE_REACH / task->exponent) << 52);
    const __m256i most = _mm256_set1_epi64x((int64_t)(1023 + DOUBLE_REACH / task->exponent) << 52);
    const __m256i zero = _mm256_set1_epi64x(task->inverse ? -1 : 0); /* the inverse of zero does not fit */
    const __m256i signless = _mm256_set1_epi64x(task->negative_only ? 0 : INT64_MIN);
    const __m256i magnitude = _mm256_set1_epi64x(INT64_MAX), order = _mm256_set1_epi64x(0x7ff0000000000000LL);
    const __m256d minus = _mm256_set1_pd(-0.0), unit = _mm256_set1_pd(1.0);
    const __m256d odd = _mm256_set1_pd(task->exponent & 1 ? -0.0 : 0.0);
    const __m256d room = _mm256_set1_pd(task->room * 0x1p-53);
    const __m256d dense = _mm256_set1_pd((task->room - POWER_ROOM_DENSE) * 0x1p-53);
    for (npy_intp i = 0; i < count; i += POWER_GROUP) {
        __m256d one[POWER_PACKS], high[POWER_PACKS], rest[POWER_PACKS];
        __m256i fits[POWER_PACKS];
        for (int j = 0; j < POWER_PACKS; j++) {
            __m256i bits = _mm256_loadu_si256((const __m256i *)(base + i + 4 * j)), size = bits & magnitude;
            fits[j] = (_mm256_cmpgt_epi64(size, least) & _mm256_cmpgt_epi64(most, size)) | _mm256_cmpeq_epi64(size, zero);
            one[j] = high[j] = _mm256_blendv_pd(unit, _mm256_castsi256_pd(bits), _mm256_castsi256_pd(fits[j]));
            rest[j] = _mm256_setzero_pd();
            fits[j] &= bits | signless;
        }
        for (int k = 1; k < task->exponent; k++) {
            for (int j = 0; j < POWER_PACKS; j++) {
                __m256d product = _mm256_mul_pd(high[j], one[j]);
                rest[j] = _mm256_fmadd_pd(rest[j], one[j], _mm256_fmsub_pd(high[j], one[j], product));
                high[j] = product;
            }
        }
        for (int j = 0; j < POWER_PACKS && task->inverse; j++) {
            __m256d inverse = _mm256_div_pd(unit, high[j]);
            __m256d error = _mm256_fnmadd_pd(inverse, rest[j], _mm256_fnmadd_pd(inverse, high[j], unit));
            rest[j] = _mm256_mul_pd(inverse, error);
            high[j] = inverse;
        }
        for (int j = 0; j < POWER_PACKS; j++) {
            __m256d sum = _mm256_add_pd(high[j], rest[j]);
            __m256d off = _mm256_andnot_pd(minus, _mm256_sub_pd(rest[j], _mm256_sub_pd(sum, high[j])));
            __m256i bits = _mm256_castpd_si256(sum) & magnitude, half = bits & order;
            __m256d near = _mm256_blendv_pd(room, dense, _mm256_castsi256_pd(_mm256_cmpeq_epi64(bits, half)));
            __m256d clear = _mm256_cmp_pd(off, _mm256_mul_pd(near, _mm256_castsi256_pd(half)), _CMP_LE_OQ);
            power_open(open + i + 4 * j, _mm256_movemask_pd(_mm256_and_pd(clear, _mm256_castsi256_pd(fits[j]))));
            sum = _mm256_or_pd(_mm256_andnot_pd(minus, sum), _mm256_and_pd(odd, one[j]));
            _mm256_storeu_pd(out + i + 4 * j, sum);
        }
    }
}

/* Computes in double: for float bases, these products are as good as exact. */
VECTOR_CODE static void
float_raise(const float *base, float *out, uint8_t *open, npy_intp count, const PowerTask *task)
{
    const __m128i least = _mm_set1_epi32((127 - FLOAT_REACH / task->exponent) << 23);
    const __m128i most = _mm_set1_epi32((127 + FLOAT_REACH / task->exponent) << 23);
    const __m128i zero = _mm_set1_epi32(task->inverse ? -1 : 0),
                  signless = _mm_set1_epi32(task->negative_only ? 0 : INT32_MIN);
    const __m128i magnitude = _mm_set1_epi32(INT32_MAX), order = _mm_set1_epi32(0x7f800000);
    const __m256d minus = _mm256_set1_pd(-0.0), unit = _mm256_set1_pd(1.0);
    const __m256d room = _mm256_set1_pd(task->room * 0x1p-24);
    const __m256d dense = _mm256_set1_pd((task->room - POWER_ROOM_DENSE) * 0x1p-24);
    for (npy_intp i = 0; i < count; i += POWER_GROUP) {
        __m256d one[POWER_PACKS], high[POWER_PACKS];
        __m128i fits[POWER_PACKS];
        for (int j = 0; j < POWER_PACKS; j++) {
            __m128i bits = _mm_loadu_si128((const __m128i *)(base + i + 4 * j)), size = bits & magnitude;
            fits[j] = (_mm_cmpgt_epi32(size, least) & _mm_cmpgt_epi32(most, size)) | _mm_cmpeq_epi32(size, zero);
            one[j] = high[j] = _mm256_cvtps_pd(
                _mm_blendv_ps(_mm_set1_ps(1.0f), _mm_castsi128_ps(bits), _mm_castsi128_ps(fits[j])));
            fits[j] &= bits | signless;
        }
        for (int k = 1; k < task->exponent; k++) {
            for (int j = 0; j < POWER_PACKS; j++) {
                high[j] = _mm256_mul_pd(high[j], one[j]);
            }
        }
        for (int j = 0; j < POWER_PACKS && task->inverse; j++) {
            high[j] = _mm256_div_pd(unit, high[j]);
        }
        for (int j = 0; j < POWER_PACKS; j++) {
            __m128 sum = _mm256_cvtpd_ps(high[j]);
            __m256d off = _mm256_andnot_pd(minus, _mm256_sub_pd(high[j], _mm256_cvtps_pd(sum)));
            __m128i bits = _mm_castps_si128(sum) & magnitude, half = bits & order;
            __m256i exact = _mm256_cvtepi32_epi64(_mm_cmpeq_epi32(bits, half));
            __m256d near = _mm256_blendv_pd(room, dense, _mm256_castsi256_pd(exact));
            __m256d most_off = _mm256_mul_pd(near, _mm256_cvtps_pd(_mm_castsi128_ps(half)));
            int clear = _mm256_movemask_pd(_mm256_cmp_pd(off, most_off, _CMP_LE_OQ));
            power_open(open + i + 4 * j, clear & _mm_movemask_ps(_mm_castsi128_ps(fits[j])));
            _mm_storeu_ps(out + i + 4 * j, sum);
        }
    }
}

static inline void
loop_ask(const PowerLoop *loop, const void *base, const void *exponent, void *out, npy_intp count, npy_intp size)
{
    char *pointers[] = {(char *)base, (char *)exponent, (char *)out};
    npy_intp steps[] = {size, 0, size};
    loop->function(pointers, &count, steps, loop->data);
}

#define REAL double
#define NAMED(name) double_##name
#define WORD uint64_t
#define REACH DOUBLE_REACH
#include "runtime/ufuncs/power.inc"
#undef REAL
#undef NAMED
#undef WORD
#undef REACH

#define REAL float
#define NAMED(name) float_##name
#define WORD uint32_t
#define REACH FLOAT_REACH
#include "runtime/ufuncs/power.inc"
#undef REAL
#undef NAMED
#undef WORD
#undef REACH

void
powers_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data)
{
    const char *types = ufunc->types + index * (ufunc->nin + ufunc->nout);
    int typenum = types[0];
    PowerLoop *loop = typenum == NPY_DOUBLE ? &power_double : &power_float;
    if (strcmp(ufunc->name, "power") != 0 || ufunc->nin != 2 || (typenum != NPY_DOUBLE && typenum != NPY_FLOAT)
        || types[1] != typenum || types[2] != typenum || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        return;
    }
    if (loop->function == NULL) {
        loop->function = *function;
        loop->data = *data;
    }
    if (loop->function == *function && loop->data == *data) {
        *function = typenum == NPY_DOUBLE ? double_power : float_power;
        *data = loop;
    }
}

#else
void
powers_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data)
{
}

#endif
