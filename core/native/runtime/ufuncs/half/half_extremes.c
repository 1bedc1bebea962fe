/* Inner loops for float16 of np.maximum and np.minimum, with NumPy's bits.
 *
 * Kernels reduce by them, along rows and by whole rows. Numbers are compared as integers, sixteen at once. NumPy takes
 * the first operand if it is NaN, or not smaller than the second one. Runs with NaN are left to NumPy's loop. */
#include "runtime/ufuncs/half/half_extremes.h"
#include "launcher/abi.h"
#include "runtime/ufuncs/half/half_loop_inl.h"
#include <numpy/ufuncobject.h>
#include <string.h>

#if HALF_LOOPS_RUN

#define SPECIAL 0x7c00 /* the bits of infinity */

static inline int
size_of(npy_half number)
{
    return number & 0x7fff;
}

/* An integer that orders numbers; it is equal for zeros of both signs. */
static inline int16_t
place_of(npy_half number)
{
    return (int16_t)(number >> 15 ? -size_of(number) : size_of(number));
}

/* The largest place of adjacent numbers, or that of the numbers with other signs if `sign` is -1. Returns INT16_MAX,
 * which no number has, if one is NaN. */
HALF_CODE int16_t
places_most(const npy_half *numbers, npy_intp count, int16_t sign)
{
    int16_t most = INT16_MIN, is_nan = 0;
    for (npy_intp i = 0; i < count; i++) {
        int16_t place = (int16_t)(place_of(numbers[i]) * sign);
        most = place > most ? place : most;
        is_nan |= size_of(numbers[i]) > SPECIAL;
    }
    return is_nan ? INT16_MAX : most;
}

/* Replaces numbers by those of another row that are larger, or smaller if `sign` is -1, or NaN. NaN stays. */
HALF_CODE void
rows_extreme(npy_half *numbers, const npy_half *others, npy_intp count, int16_t sign)
{
    for (npy_intp i = 0; i < count; i++) {
        npy_half own = numbers[i], other = others[i];
        int larger = (int16_t)(place_of(other) * sign) > (int16_t)(place_of(own) * sign);
        int taken = (size_of(own) <= SPECIAL) & ((size_of(other) > SPECIAL) | larger);
        numbers[i] = taken ? other : own;
    }
}

/* Reduces adjacent numbers. Of equal numbers NumPy keeps the first. Returns 0 if NumPy's loop must do it. */
static int
run_extreme(npy_half *out, const npy_half *source, npy_intp count, int16_t sign)
{
    int16_t most = places_most(source, count, sign), own = (int16_t)(place_of(*out) * sign);
    if (most == INT16_MAX || size_of(*out) > SPECIAL) {
        return 0;
    }
    if (most > own) {
        while ((int16_t)(place_of(*source) * sign) != most) {
            source++;
        }
        *out = *source;
    }
    return 1;
}

static void
extreme_loop(const HalfLoop *loop, char **args, npy_intp count, const npy_intp *steps, int16_t sign)
{
    npy_intp size = sizeof(npy_half);
    if (args[0] == args[2] && steps[0] == 0 && steps[2] == 0 && steps[1] == size) {
        if (run_extreme((npy_half *)args[0], (const npy_half *)args[1], count, sign)) {
            return;
        }
    }
    else if (args[0] == args[2] && steps[0] == size && steps[1] == size && steps[2] == size
             && (args[1] >= args[2] + count * size || args[1] + count * size <= args[2])) {
        rows_extreme((npy_half *)args[0], (const npy_half *)args[1], count, sign);
        return;
    }
    loop_ask(loop, args, &count, steps);
}

void
half_maximum_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    extreme_loop(data, args, dimensions[0], steps, 1);
}

void
half_minimum_loop(char **args, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    extreme_loop(data, args, dimensions[0], steps, -1);
}

/* Compares a loop for extremes on numbers with zeros of both signs, infinities and NaN among them. */
static int
extremes_agree(const HalfLoop *loop, PyUFuncGenericFunction function)
{
    static const npy_half strange[] = {0, 0x8000, SPECIAL, 0xfc00, 1, 0x8001, 0x7e01, 0xfe02};
    npy_half numbers[PROBED_NUMBERS], wanted[PROBED_NUMBERS], found[PROBED_NUMBERS];
    npy_intp size = sizeof(npy_half), reducing[] = {0, size, 0}, pairing[] = {size, size, size};
    npy_intp few = sizeof(strange) / sizeof(strange[0]), counts[] = {PROBED_NUMBERS, 9};
    numbers_fill(numbers, PROBED_NUMBERS, 3);
    for (npy_intp first = 0; first <= few; first++) {
        numbers_fill(wanted, PROBED_NUMBERS, 11);
        for (npy_intp i = 0; i < few && first < few; i++) {
            numbers[7 * i + 3] = strange[(first + i) % (i < 4 ? 6 : few)];
            wanted[7 * i + 3] = strange[(first + 3 * i) % few];
        }
        memcpy(found, wanted, sizeof(found));
        for (int k = 0; k < 4; k++) {
            char *args[] = {(char *)wanted, (char *)(numbers + k), (char *)wanted};
            npy_intp count = counts[k % 2] - k;
            loop_ask(loop, args, &count, k < 2 ? reducing : pairing);
            args[0] = args[2] = (char *)found;
            function(args, &count, k < 2 ? reducing : pairing, (void *)loop);
        }
        if (memcmp(wanted, found, sizeof(found)) != 0) {
            return 0;
        }
    }
    return 1;
}

int
half_maximum_agrees(const HalfLoop *loop)
{
    return extremes_agree(loop, half_maximum_loop);
}

int
half_minimum_agrees(const HalfLoop *loop)
{
    return extremes_agree(loop, half_minimum_loop);
}

#endif
