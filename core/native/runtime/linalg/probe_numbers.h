/* Test numbers that reveal the order in which a library adds products. */
#ifndef PIJIT_RUNTIME_LINALG_PROBE_NUMBERS_H
#define PIJIT_RUNTIME_LINALG_PROBE_NUMBERS_H

#include "launcher/abi.h"

#define PROBE_STATE 0x9E3779B97F4A7C15 /* seed of the random numbers */

uint64_t probe_random(uint64_t *state);

/* In the first four trials, one operand has only zeros of one sign, and the other has only numbers of one sign. They
 * test the signs of sums of zeros. */
double probe_number(uint64_t *state, int trial, int operand);

#endif
