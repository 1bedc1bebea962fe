/* Declares the functions of the runtime table, runtime_<name>; entries.inc documents them. */
#ifndef PIJIT_RUNTIME_ENTRIES_H
#define PIJIT_RUNTIME_ENTRIES_H

#include <stdint.h>

/* The parameters of a function, from the names of its words. */
/* clang-format off */
#define WORDS_0() void
#define WORDS_1(a) int64_t a
#define WORDS_2(a, b) int64_t a, int64_t b
#define WORDS_3(a, b, c) WORDS_2(a, b), int64_t c
#define WORDS_4(a, b, c, d) WORDS_3(a, b, c), int64_t d
#define WORDS_5(a, b, c, d, e) WORDS_4(a, b, c, d), int64_t e
#define WORDS_6(a, b, c, d, e, f) WORDS_5(a, b, c, d, e), int64_t f
#define WORDS_7(a, b, c, d, e, f, g) WORDS_6(a, b, c, d, e, f), int64_t g
#define WORDS_8(a, b, c, d, e, f, g, h) WORDS_7(a, b, c, d, e, f, g), int64_t h
/* clang-format on */

#define ENTRY(name, result, gil, count, words) int64_t runtime_##name(WORDS_##count words);
#include "runtime/entries.inc"

#endif
