/* Sums of products of few elements, in the orders in which libraries of linear algebra compute them.
 *
 * Included by products.h once for each type, as REAL, of which FOUR is a vector; NAMED(x) is a name of that type's
 * own. An order computes four sums side by side, of LEFT(q) * lines[q], for each row of the left operand. */

#define LEFT(q) (*(const REAL *)(left + (q) * of->left_steps[1]) - (FOUR){0})
#define TIMES(q) (LEFT(q) * lines[q])
#define FUSED(q, sum) FUSE(LEFT(q), lines[q], sum)

/* Writes the sums of up to four columns of one row. */
PRODUCT_CODE static inline void
NAMED(leave)(const Product *of, FOUR sums, char *out, npy_intp count)
{
    if (count == 4 && of->out_steps[1] == sizeof(REAL)) {
        memcpy(out, &sums, sizeof(sums));
        return;
    }
    for (npy_intp j = 0; j < count; j++) {
        *(REAL *)(out + j * of->out_steps[1]) = sums[j];
    }
}

/* A function for an order: `count` columns of the result, to `out`. It returns whether one is NaN. */
#define ORDER(name, ...)                                                                       \
    PRODUCT_CODE static int                                                                    \
    NAMED(name)(const Product *of, const FOUR *lines, char *out, npy_intp count)               \
    {                                                                                          \
        const char *left = of->left;                                                           \
        int nan = 0;                                                                           \
        for (npy_intp i = 0; i < of->rows; i++) {                                              \
            FOUR sums = {0};                                                                   \
            npy_intp q = 0;                                                                    \
            __VA_ARGS__                                                                        \
            NAMED(leave)(of, sums, out, count);                                                \
            nan |= IS_NAN(sums);                                                               \
            left += of->left_steps[0];                                                         \
            out += of->out_steps[0];                                                           \
        }                                                                                      \
        return nan;                                                                            \
    }

#define WHOLE (of->depth & ~(npy_intp)3)

#define LANES                                                                                  \
    FOUR lane0 = {0}, lane1 = {0}, lane2 = {0}, lane3 = {0};                                   \
    for (; q < WHOLE; q += 4) {                                                                \
        lane0 = FUSED(q, lane0);                                                               \
        lane1 = FUSED(q + 1, lane1);                                                           \
        lane2 = FUSED(q + 2, lane2);                                                           \
        lane3 = FUSED(q + 3, lane3);                                                           \
    }                                                                                          \
    sums = (lane0 + lane2) + (lane1 + lane3);

#define ONE_BY_ONE                                                                             \
    for (; q < of->depth; q++) {                                                               \
        sums = sums + TIMES(q);                                                                \
    }

#define REST_FUSED                                                                             \
    switch (of->depth - q) {                                                                   \
    case 1: sums = FUSED(q, sums); break;                                                      \
    case 2: sums = sums + FUSED(q, TIMES(q + 1)); break;                                       \
    case 3: sums = sums + FUSED(q + 2, FUSED(q, TIMES(q + 1))); break;                         \
    }

ORDER(one_by_one, ONE_BY_ONE)

ORDER(fused,
      for (; q < of->depth; q++) {
          sums = FUSED(q, sums);
      })

/* Four sums of every fourth product; the rest apart. */
ORDER(lanes_fused,
      LANES
      REST_FUSED)

ORDER(lanes_plain,
      LANES
      FOUR before = sums;
      sums = (FOUR){0};
      ONE_BY_ONE
      sums = before + sums;)

/* Sums of four products each, one added after the other. */
ORDER(fours_fused,
      for (; q < WHOLE; q += 4) {
          sums = sums + (FUSED(q + 2, TIMES(q)) + FUSED(q + 3, TIMES(q + 1)));
      }
      switch (of->depth - q) {
      case 1: sums = sums + TIMES(q); break;
      case 2: sums = sums + (TIMES(q) + TIMES(q + 1)); break;
      case 3: sums = (sums + (TIMES(q) + TIMES(q + 1))) + TIMES(q + 2); break;
      })

ORDER(fours_plain,
      for (; q < WHOLE; q += 4) {
          sums = sums + ((TIMES(q) + TIMES(q + 1)) + (TIMES(q + 2) + TIMES(q + 3)));
      }
      ONE_BY_ONE)

/* The same, each product but the second fused. */
ORDER(fours_chained,
      for (; q < WHOLE; q += 4) {
          sums = sums + FUSED(q + 3, FUSED(q + 2, FUSED(q, TIMES(q + 1))));
      }
      REST_FUSED)

/* Rounded products, added up as doubles. */
ORDER(in_doubles,
      __m256d wide = {0};
      for (; q < of->depth; q++) {
          wide = wide + WIDEN(TIMES(q));
      }
      sums = NARROW(wide);)

/* Columns from the last multiple of four on have an order of their own. */
PRODUCT_CODE static int
NAMED(product)(const Product *of, int order, int last)
{
    static int (*const orders[PRODUCT_ORDERS])(const Product *, const FOUR *, char *, npy_intp) = {
        NAMED(one_by_one), NAMED(fused), NAMED(lanes_fused), NAMED(lanes_plain), NAMED(fours_fused),
        NAMED(fours_plain), NAMED(in_doubles), NAMED(fours_chained)};
    const npy_intp step = of->right_steps[1];
    FOUR lines[PRODUCT_DEPTH];
    int nan = 0;
    for (npy_intp j = 0; j < of->columns; j += 4) {
        const npy_intp count = of->columns - j < 4 ? of->columns - j : 4;
        const char *right = of->right + j * step;
        for (npy_intp q = 0; q < of->depth; q++) {
            if (count == 4 && step == sizeof(REAL)) {
                memcpy(lines + q, right, sizeof(FOUR));
            }
            else {
                /* No zeros for columns that are not there: infinity times zero raises a flag. */
                const REAL first = *(const REAL *)right;
                lines[q] = (FOUR){first, count > 1 ? *(const REAL *)(right + step) : first,
                                  count > 2 ? *(const REAL *)(right + 2 * step) : first,
                                  count > 3 ? *(const REAL *)(right + 3 * step) : first};
            }
            right += of->right_steps[0];
        }
        nan |= orders[count == 4 ? order : last](of, lines, of->out + j * of->out_steps[1], count);
    }
    return nan;
}

#undef LEFT
#undef TIMES
#undef FUSED
#undef ORDER
#undef LANES
#undef WHOLE
#undef ONE_BY_ONE
#undef REST_FUSED
