/* Powers of floats with small whole exponents: the bits of NumPy's loop for np.power, in a fraction of its time.
 *
 * Part of runtime.c, apart for its size. NumPy asks libm, or Intel's vector library, which takes negative bases out and does
 * them one by one. Where such a function errs by hardly more than half a unit in the last place, its answer is the exact
 * power, rounded, unless that lies near the middle of two floats. The exact power is a product of pairs of floats. What lies
 * near the middle, or may overflow or underflow, NumPy's loop computes. A probe tells for which signs of the base this gives
 * NumPy's bits. */
#ifndef PIJIT_POWERS_H
#define PIJIT_POWERS_H

#include "float_status.h"
#include <math.h>
#include <numpy/ufuncobject.h>
#include <string.h>

#if defined(__linux__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAVE_POWERS 1

#define POWER_BLOCK 1024        /* elements that are done at once, as many as threads share at least */
#define POWER_GAP 64            /* bytes between operands: loops take adjacent memory for overlapping, and go another way */
#define POWER_FEW 8             /* elements for which nobody asks whether there is a faster way */
#define POWER_LEAST 3
#define POWER_MOST 16
#define POWER_PROBES 512        /* bases for each exponent that is probed */
#define DOUBLE_REACH 300        /* functions err more for powers beyond 2 ** 300 or below 2 ** -300 */
#define FLOAT_REACH 100

/* The distance from a rounded power to the exact one, in halves of the last unit, that is not near the middle. NumPy's
 * functions were off by 0.01 units at most. Below a power of two the floats are twice as dense. */
#define POWER_ROOM 0.94
#define POWER_ROOM_BELOW 0.44

#define VECTOR_CODE __attribute__((target("avx2,fma"), optimize("O3", "fp-contract=off")))

enum {POWER_UNPROBED, POWER_NONE, POWER_NEGATIVE, POWER_ALL};

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int trusted;                /* for which bases exact powers give the bits of `function` */
} PowerLoop;

static PowerLoop power_double, power_float;

/* Leaves in `out` the exact powers, rounded, and in `open` where the loop must be asked. */
VECTOR_CODE static void
doubles_raise(const double *base, double *out, uint8_t *open, npy_intp count, int exponent)
{
    const int64_t least = (int64_t)(1023 - DOUBLE_REACH / exponent) << 52;
    const int64_t most = (int64_t)(1023 + DOUBLE_REACH / exponent) << 52;
    double one[POWER_BLOCK], high[POWER_BLOCK], rest[POWER_BLOCK];
    uint64_t fits[POWER_BLOCK];
    for (npy_intp i = 0; i < count; i++) {
        int64_t size;  /* the bits: compares of floats raise a flag for NaN */
        memcpy(&size, base + i, sizeof(size));
        size &= INT64_MAX;
        fits[i] = (size >= least && size <= most) || size == 0;
        one[i] = high[i] = fits[i] ? base[i] : 1.0;
        rest[i] = 0.0;
    }
    for (int k = 1; k < exponent; k++) {
        for (npy_intp i = 0; i < count; i++) {
            double product = high[i] * one[i];
            rest[i] = __builtin_fma(rest[i], one[i], __builtin_fma(high[i], one[i], -product));
            high[i] = product;
        }
    }
    for (npy_intp i = 0; i < count; i++) {
        double sum = high[i] + rest[i], off = fabs(rest[i] - (sum - high[i])), half;
        uint64_t bits;
        memcpy(&bits, &sum, sizeof(bits));
        double room = (bits & 0xfffffffffffffULL) == 0 ? POWER_ROOM_BELOW : POWER_ROOM;
        bits &= 0x7ff0000000000000ULL;
        memcpy(&half, &bits, sizeof(bits));
        fits[i] &= off <= room * (half * 0x1p-53);
        out[i] = copysign(sum, exponent & 1 ? one[i] : 1.0);
    }
    for (npy_intp i = 0; i < count; i++) {
        open[i] = !fits[i];
    }
}

/* The same, by doubles: their products are as good as exact. */
VECTOR_CODE static void
floats_raise(const float *base, float *out, uint8_t *open, npy_intp count, int exponent)
{
    const int32_t least = (127 - FLOAT_REACH / exponent) << 23, most = (127 + FLOAT_REACH / exponent) << 23;
    double one[POWER_BLOCK], high[POWER_BLOCK];
    uint64_t fits[POWER_BLOCK];
    for (npy_intp i = 0; i < count; i++) {
        int32_t size;
        memcpy(&size, base + i, sizeof(size));
        size &= INT32_MAX;
        fits[i] = (size >= least && size <= most) || size == 0;
        one[i] = high[i] = fits[i] ? (double)base[i] : 1.0;
    }
    for (int k = 1; k < exponent; k++) {
        for (npy_intp i = 0; i < count; i++) {
            high[i] *= one[i];
        }
    }
    for (npy_intp i = 0; i < count; i++) {
        float sum = (float)high[i], unit;
        double off = fabs(high[i] - (double)sum);
        uint32_t bits;
        memcpy(&bits, &sum, sizeof(bits));
        double room = (bits & 0x7fffff) == 0 ? POWER_ROOM_BELOW : POWER_ROOM;
        bits &= 0x7f800000;
        memcpy(&unit, &bits, sizeof(bits));
        fits[i] &= off <= room * ((double)unit * 0x1p-24);
        out[i] = sum;
    }
    for (npy_intp i = 0; i < count; i++) {
        open[i] = !fits[i];
    }
}

static inline void
loop_ask(const PowerLoop *loop, const void *base, const void *exponent, void *out, npy_intp count, npy_intp size)
{
    char *pointers[] = {(char *)base, (char *)exponent, (char *)out};
    npy_intp steps[] = {size, 0, size};
    loop->function(pointers, &count, steps, loop->data);
}

/* For a type: the powers of a block; a probe of the loop; and what takes the loop's place. */
#define POWER_FUNCTIONS(type, word, raise, reach) \
    static void \
    type##_power_block(const PowerLoop *loop, const type *base, const type *exponent, type *out, npy_intp count) \
    { \
        type held[POWER_BLOCK + POWER_GAP], answer[POWER_BLOCK + POWER_GAP], exact[POWER_BLOCK]; \
        uint8_t open[POWER_BLOCK]; \
        word bits[POWER_BLOCK], any = 0; \
        npy_intp asked = 0; \
        memcpy(bits, base, count * sizeof(type)); \
        for (npy_intp i = 0; i < count; i++) { \
            any |= bits[i]; \
        } \
        int mixed = loop->trusted == POWER_NEGATIVE; \
        if (mixed && any >> (8 * sizeof(type) - 1) == 0) { \
            loop_ask(loop, base, exponent, out, count, sizeof(type)); \
            return; \
        } \
        raise(base, exact, open, count, (int)*exponent); \
        if (mixed) { \
            for (npy_intp i = 0; i < count; i++) { \
                held[i] = (type)fabs(base[i]); \
            } \
            loop_ask(loop, held, exponent, answer, count, sizeof(type)); \
            for (npy_intp i = 0; i < count; i++) { \
                int negative = (int)(bits[i] >> (8 * sizeof(type) - 1)); \
                exact[i] = negative ? exact[i] : answer[i]; \
                open[i] &= negative; \
            } \
        } \
        for (npy_intp i = 0; i < count; i++) { \
            held[asked] = base[i]; \
            asked += open[i]; \
        } \
        if (asked > 0) { \
            loop_ask(loop, held, exponent, answer, asked, sizeof(type)); \
        } \
        asked = 0; \
        for (npy_intp i = 0; i < count; i++) { \
            out[i] = open[i] ? answer[asked] : exact[i]; \
            asked += open[i]; \
        } \
    } \
    \
    /* Whether exact powers, rounded, are what the loop answers, for bases of a sign. */ \
    static int \
    type##_power_agrees(const PowerLoop *loop, type sign) \
    { \
        static const int exponents[] = {3, 4, 5, 7, 12}; \
        type base[POWER_PROBES + POWER_GAP], exact[POWER_PROBES]; \
        type answer[POWER_PROBES + POWER_GAP], again[POWER_PROBES + POWER_GAP]; \
        uint8_t open[POWER_PROBES]; \
        uint64_t seed = 1; \
        for (size_t k = 0; k < sizeof(exponents) / sizeof(exponents[0]); k++) { \
            int spread = reach / exponents[k]; \
            type exponent = (type)exponents[k]; \
            for (int i = 0; i < POWER_PROBES; i++) { \
                seed = seed * 6364136223846793005ULL + 1442695040888963407ULL; \
                double fraction = 1.0 + (double)(seed >> 12) * 0x1p-52; \
                base[i] = sign * (type)ldexp(fraction, i & 1 ? 0 : (int)(seed >> 3) % spread); \
            } \
            raise(base, exact, open, POWER_PROBES, exponents[k]); \
            loop_ask(loop, base, &exponent, answer, POWER_PROBES, sizeof(type)); \
            for (int i = 0; i < POWER_PROBES; i++) { \
                loop_ask(loop, base + i, &exponent, again + i, i % 16 == 0, sizeof(type)); \
                if ((!open[i] && memcmp(exact + i, answer + i, sizeof(type)) != 0) \
                        || (i % 16 == 0 && memcmp(again + i, answer + i, sizeof(type)) != 0)) { \
                    return 0; \
                } \
            } \
            loop_ask(loop, base, &exponent, base, POWER_PROBES, sizeof(type)); \
            if (memcmp(base, answer, POWER_PROBES * sizeof(type)) != 0) { \
                return 0; \
            } \
        } \
        return 1; \
    } \
    \
    static void \
    type##_power(char **pointers, const npy_intp *dimensions, const npy_intp *steps, void *data) \
    { \
        PowerLoop *loop = (PowerLoop *)data; \
        npy_intp count = dimensions[0], bytes = count * (npy_intp)sizeof(type); \
        type exponent = count > 0 ? *(const type *)pointers[1] : 0; \
        int plain = steps[1] == 0 && steps[0] == sizeof(type) && steps[2] == sizeof(type) && count >= POWER_FEW \
                    && isgreaterequal(exponent, POWER_LEAST) && islessequal(exponent, POWER_MOST) \
                    && exponent == (type)(int)exponent \
                    && (pointers[0] == pointers[2] || pointers[0] + bytes + POWER_GAP <= pointers[2] \
                        || pointers[2] + bytes + POWER_GAP <= pointers[0]); \
        if (plain && loop->trusted == POWER_UNPROBED) { \
            int negative = type##_power_agrees(loop, -1), all = negative && type##_power_agrees(loop, 1); \
            loop->trusted = all ? POWER_ALL : negative ? POWER_NEGATIVE : POWER_NONE; \
        } \
        if (!plain || loop->trusted == POWER_NONE) { \
            loop->function(pointers, dimensions, steps, loop->data); \
            return; \
        } \
        for (npy_intp first = 0; first < count; first += POWER_BLOCK) { \
            npy_intp left = count - first; \
            type##_power_block(loop, (const type *)pointers[0] + first, &exponent, (type *)pointers[2] + first, \
                               left < POWER_BLOCK ? left : POWER_BLOCK); \
        } \
    }

POWER_FUNCTIONS(double, uint64_t, doubles_raise, DOUBLE_REACH)
POWER_FUNCTIONS(float, uint32_t, floats_raise, FLOAT_REACH)

/* Puts what is faster in the place of a loop for np.power, if there is something. */
static void
powers_replace(const PyUFuncObject *ufunc, int index, PyUFuncGenericFunction *function, void **data)
{
    const char *types = ufunc->types + index * (ufunc->nin + ufunc->nout);
    int typenum = types[0];
    PowerLoop *loop = typenum == NPY_DOUBLE ? &power_double : &power_float;
    if (strcmp(ufunc->name, "power") != 0 || ufunc->nin != 2 || (typenum != NPY_DOUBLE && typenum != NPY_FLOAT)
            || types[1] != typenum || types[2] != typenum || !__builtin_cpu_supports("avx2")
            || !__builtin_cpu_supports("fma")) {
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
#define powers_replace(ufunc, index, function, data) ((void)(function))
#endif
#endif
