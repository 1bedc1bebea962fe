/* Test numbers that reveal the order in which a library adds products.
 *
 * The probes of small_matmul.h and gram.h use them. */
#include "runtime/linalg/probe_numbers.h"
#include "launcher/abi.h"
#include <math.h>
#include <stdint.h>

uint64_t
probe_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

double
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
