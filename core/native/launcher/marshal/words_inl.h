/* Floats as frame words. */
#ifndef PIJIT_LAUNCHER_WORDS_INL_H
#define PIJIT_LAUNCHER_WORDS_INL_H

#include <stdint.h>
#include <string.h>

static inline int64_t
word_from_double(double value)
{
    int64_t word;
    memcpy(&word, &value, sizeof(word));
    return word;
}

static inline double
double_from_word(int64_t word)
{
    double value;
    memcpy(&value, &word, sizeof(value));
    return value;
}

#endif
