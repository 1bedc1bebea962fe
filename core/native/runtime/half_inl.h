/* float16 numbers as doubles, and back; inlined functions. A conversion keeps the payload of NaN. */
#ifndef PIJIT_RUNTIME_HALF_INL_H
#define PIJIT_RUNTIME_HALF_INL_H

#include <stdint.h>
#include <string.h>

/* Bits of a float16: the number of those of its fraction; the fraction; the exponent, of which all bits are set in
 * infinity and NaN; the sign. */
#define HALF_FRACTION 10
#define HALF_PAYLOAD 0x3ffu
#define HALF_EXPONENT 0x7c00u
#define HALF_SIGN 0x8000u

/* The same of a double, and the difference between the exponent fields of both. */
#define DOUBLE_FRACTION 52
#define DOUBLE_SPECIAL 0x7ffu
#define HALF_REBIAS 1008
#define HALF_DROPPED (DOUBLE_FRACTION - HALF_FRACTION)

static inline double
half_to_double(uint16_t half)
{
    uint64_t field = (half & HALF_EXPONENT) >> HALF_FRACTION, fraction = half & HALF_PAYLOAD;
    uint64_t sign = (uint64_t)(half & HALF_SIGN) << 48, bits;
    double value;

    if (field == 0) { /* zero, or a multiple of the least float16 */
        value = (double)fraction / (1 << 24);
        memcpy(&bits, &value, sizeof(bits));
        bits |= sign;
    }
    else {
        uint64_t wide = field == HALF_EXPONENT >> HALF_FRACTION ? DOUBLE_SPECIAL : field + HALF_REBIAS;
        bits = sign | wide << DOUBLE_FRACTION | fraction << HALF_DROPPED;
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* A double whose value a float16 has, or NaN. */
static inline uint16_t
half_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint16_t sign = (uint16_t)(bits >> 48 & HALF_SIGN), fraction = (uint16_t)(bits >> HALF_DROPPED & HALF_PAYLOAD);
    uint64_t field = bits >> DOUBLE_FRACTION & DOUBLE_SPECIAL;

    if (field == DOUBLE_SPECIAL) {
        return (uint16_t)(sign | HALF_EXPONENT | fraction);
    }
    if (field > HALF_REBIAS) {
        return (uint16_t)(sign | (field - HALF_REBIAS) << HALF_FRACTION | fraction);
    }
    return (uint16_t)(sign | (uint16_t)((value < 0 ? -value : value) * (1 << 24)));
}

#endif
