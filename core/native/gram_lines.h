/* Products of the columns of a matrix with each other, by vectors.
 *
 * Included by grams.h once for each type and width, as REAL, of which VECTOR is WIDTH; NAMED(x) is a name of these. MANY
 * rows of sums at most are in registers. */

/* Adds the products of `count` columns from `row` on with a vector of those from `column` on, over `depth` lines. */
#define GRAM_ROWS(count)                                                                       \
    GRAM_CODE static void                                                                      \
    NAMED(rows_##count)(const REAL *row, const REAL *column, MASK mask, npy_intp step,         \
                        npy_intp depth, VECTOR *out)                                           \
    {                                                                                          \
        VECTOR sums[count];                                                                    \
        _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) {                             \
            sums[i] = (VECTOR){0};                                                             \
        }                                                                                      \
        for (npy_intp q = 0; q < depth; q++) {                                                 \
            VECTOR line = LOAD(column, mask);                                                  \
            _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) {                         \
                sums[i] = FUSE(row[i] - (VECTOR){0}, line, sums[i]);                           \
            }                                                                                  \
            row += step;                                                                       \
            column += step;                                                                    \
        }                                                                                      \
        _Pragma("GCC unroll 16") for (int i = 0; i < count; i++) {                             \
            out[i] = out[i] + sums[i];                                                         \
        }                                                                                      \
    }

GRAM_ROWS(1) GRAM_ROWS(2) GRAM_ROWS(3) GRAM_ROWS(4) GRAM_ROWS(5) GRAM_ROWS(6) GRAM_ROWS(7) GRAM_ROWS(8) GRAM_ROWS(9)
GRAM_ROWS(10) GRAM_ROWS(11) GRAM_ROWS(12)
#if MANY == 16
GRAM_ROWS(13) GRAM_ROWS(14) GRAM_ROWS(15) GRAM_ROWS(16)
#endif

static void (*const NAMED(rows)[MANY + 1])(const REAL *, const REAL *, MASK, npy_intp, npy_intp, VECTOR *) = {
    NULL, NAMED(rows_1), NAMED(rows_2), NAMED(rows_3), NAMED(rows_4), NAMED(rows_5), NAMED(rows_6), NAMED(rows_7),
    NAMED(rows_8), NAMED(rows_9), NAMED(rows_10), NAMED(rows_11), NAMED(rows_12),
#if MANY == 16
    NAMED(rows_13), NAMED(rows_14), NAMED(rows_15), NAMED(rows_16),
#endif
};

/* The lower triangle of the result, by columns of vectors; those of the diagonal are whole. It returns whether a sum is
 * NaN. */
GRAM_CODE static int
NAMED(lines)(const REAL *first, npy_intp step, npy_intp depth, npy_intp side, VECTOR (*sums)[GRAM_SIDE])
{
    int nan = 0;
    for (npy_intp column = 0; column < side; column += WIDTH) {
        MASK mask = MASKED(side - column < WIDTH ? side - column : WIDTH);
        VECTOR *out = sums[column / WIDTH];
        for (npy_intp row = column, count; row < side; row += count) {
            npy_intp parts = (side - row + MANY - 1) / MANY;
            count = (side - row + parts - 1) / parts;
            NAMED(rows)[count](first + row, first + column, mask, step, depth, out + row);
            for (npy_intp i = row; i < row + count; i++) {
                nan |= IS_NAN(out[i]);
            }
        }
    }
    return nan;
}

/* The whole product; whether it has no NaN. */
GRAM_CODE static int
NAMED(gram)(const Gram *of)
{
    VECTOR sums[GRAM_SIDE / WIDTH][GRAM_SIDE];
    const REAL *first = (const REAL *)of->first;
    const npy_intp step = of->step / (npy_intp)sizeof(REAL);
    memset(sums, 0, sizeof(sums));
    for (npy_intp at = 0, depth; at < of->depth; at += depth) {
        depth = gram_part(of->depth - at, of->interval);
        if (NAMED(lines)(first + at * step, step, depth, of->side, sums)) {
            return 0;
        }
    }
    for (npy_intp i = 0; i < of->side; i++) {
        for (npy_intp j = 0; j <= i; j++) {
            REAL sum = sums[j / WIDTH][i][j % WIDTH];
            *(REAL *)(of->out + i * of->out_steps[0] + j * of->out_steps[1]) = sum;
            *(REAL *)(of->out + j * of->out_steps[0] + i * of->out_steps[1]) = sum;
        }
    }
    return 1;
}

#undef REAL
#undef NAMED
#undef VECTOR
#undef WIDTH
#undef FUSE
#undef LOAD
#undef IS_NAN
#undef GRAM_ROWS
