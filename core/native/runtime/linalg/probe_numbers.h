/* Test numbers that reveal the order in which a library adds products.
 *
 * Part of table.c. The probes of small_matmul.h and gram.h use them. */
#ifndef PIJIT_PROBE_NUMBERS_H
#define PIJIT_PROBE_NUMBERS_H

#include <math.h>
#include <stdint.h>

#define PROBE_STATE 0x9E3779B97F4A7C15 /* seed of the random numbers */

static uint64_t
probe_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* In the first four trials, one operand has only zeros of one sign, and the other has only numbers of one sign. They
 * test the signs of sums of zeros. */
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
