/* Numbers that tell in which order a library adds up products.
 *
 * Part of table.c: what small_matmul.h and gram.h try orders with. */
#ifndef PIJIT_PROBE_NUMBERS_H
#define PIJIT_PROBE_NUMBERS_H

#include <math.h>
#include <stdint.h>

#define PROBE_STATE 0x9E3779B97F4A7C15   /* where random numbers begin */

static uint64_t
probe_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* In the first trials, all zeros of one sign, or all numbers of one: sums of zeros have signs. */
static double
probe_number(uint64_t *state, int trial, int operand)
{
    uint64_t bits = probe_random(state);
    double number = ldexp(1.0 + (double)(bits >> 12) / 4503599627370496.0, (int)(bits & 7) - 4);
    if (trial < 4) {
        int zero = operand == (trial >> 1);
        return zero ? (trial & 1 ? -0.0 : 0.0) : (trial & 1 ? number : -number);
    }
    if ((bits >> 4 & 15) == 0) {
        number = 0.0;
    }
    return bits & 8 ? -number : number;
}

#endif
