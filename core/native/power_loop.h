/* What takes the place of NumPy's loop for np.power, and a probe of that loop.
 *
 * Included by powers.h once for each type, as REAL, of whose powers those between 2 ** -REACH and 2 ** REACH are computed;
 * NAMED(x) is a name of that type's own. */

#define POWER_PADDED (POWER_BLOCK + MASK_BLOCK)  /* what is picked, or put, may be read and written beyond */

/* Whether all bases are best left to the loop: it is fast but for those of the sign that is computed. */
VECTOR_CODE static int
NAMED(power_is_loops)(const PowerLoop *loop, const REAL *base, npy_intp count)
{
    WORD negative = 0;
    for (npy_intp i = 0; i < count; i++) {
        WORD bits;
        memcpy(&bits, base + i, sizeof(bits));
        negative += bits >> (8 * sizeof(bits) - 1);
    }
    return loop->trusted == POWER_NEGATIVE && (npy_intp)negative * POWER_FEW_NEGATIVE < count;
}

static PowerTask
NAMED(power_task)(int exponent, double room)
{
    PowerTask task = {exponent < 0 ? -exponent : exponent, exponent < 0, 0, room};
    return task;
}

/* The powers of at most POWER_BLOCK bases, maybe in place. */
static void
NAMED(power_block)(const PowerLoop *loop, const REAL *base, const REAL *exponent, REAL *out, npy_intp count)
{
    REAL own[POWER_BLOCK], exact[POWER_BLOCK], held[POWER_PADDED], answer[POWER_PADDED];
    uint8_t open[POWER_BLOCK];
    PowerTask task = NAMED(power_task)((int)*exponent, POWER_ROOM);
    task.negative_only = loop->trusted == POWER_NEGATIVE;
    npy_intp whole = (count + POWER_GROUP - 1) / POWER_GROUP * POWER_GROUP;
    memcpy(own, base, count * sizeof(REAL));
    for (npy_intp i = count; i < whole; i++) {
        own[i] = 1;
    }
    NAMED(raise)(own, exact, open, whole, &task);
    int64_t asked = runtime_mask_count((int64_t)open, count);
    if (asked == count) {
        loop_ask(loop, base, exponent, out, count, sizeof(REAL));
        return;
    }
    if (asked > 0) {
        runtime_mask_pick((int64_t)held, (int64_t)own, (int64_t)open, count, sizeof(REAL), asked);
        loop_ask(loop, held, exponent, answer, asked, sizeof(REAL));
        runtime_mask_put((int64_t)exact, (int64_t)open, count, sizeof(REAL), asked, (int64_t)answer, sizeof(REAL));
    }
    memcpy(out, exact, count * sizeof(REAL));
}

/* A number from 1 to 2, of any bits. */
static double
NAMED(power_fraction)(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return 1.0 + (double)(*seed >> 12) * 0x1p-52;
}

/* Whether what the loop answers for a base depends on nothing else. */
static int
NAMED(power_steady)(const PowerLoop *loop)
{
    enum {GAP = POWER_GAP / sizeof(REAL)};
    REAL operands[2 * POWER_PROBES + GAP], *base = operands, *near = operands + POWER_PROBES + GAP;
    REAL apart[POWER_PROBES + MASK_BLOCK], exponent = 3, one;
    uint64_t seed = 1;
    for (int i = 0; i < POWER_PROBES; i++) {
        base[i] = (REAL)NAMED(power_fraction)(&seed);
        base[i] = seed >> 11 & 1 ? -base[i] : base[i];
    }
    loop_ask(loop, base, &exponent, near, POWER_PROBES, sizeof(REAL));
    loop_ask(loop, base, &exponent, apart, POWER_PROBES, sizeof(REAL));
    int steady = memcmp(near, apart, sizeof(REAL) * POWER_PROBES) == 0;
    for (int i = 0; i < POWER_PROBES && steady; i += 16) {
        loop_ask(loop, base + i, &exponent, &one, 1, sizeof(REAL));
        steady = memcmp(&one, near + i, sizeof(REAL)) == 0;
    }
    loop_ask(loop, base, &exponent, base, POWER_PROBES, sizeof(REAL));
    return steady && memcmp(base, near, sizeof(REAL) * POWER_PROBES) == 0;
}

/* Whether exact powers, rounded, are what the loop answers for bases of a sign: those that lie nearest to the middle. */
static int
NAMED(power_agrees)(const PowerLoop *loop, REAL sign)
{
    static const int exponents[] = {3, 4, 5, 7, 11, 16, -2, -3, -6, -13};
    REAL base[POWER_BLOCK], exact[POWER_BLOCK], held[POWER_BLOCK], rounded[POWER_BLOCK], answer[POWER_BLOCK + MASK_BLOCK];
    uint8_t open[POWER_BLOCK], open_to_probe[POWER_BLOCK];
    uint64_t seed = 1;
    for (size_t k = 0; k < sizeof(exponents) / sizeof(exponents[0]); k++) {
        REAL exponent = (REAL)exponents[k];
        PowerTask task = NAMED(power_task)(exponents[k], POWER_ROOM);
        PowerTask probe = NAMED(power_task)(exponents[k], POWER_ROOM_PROBED);
        int spread = REACH / task.exponent;
        for (npy_intp probed = 0, asked = 0; probed < POWER_PROBES; probed += asked, asked = 0) {
            int scale = (int)(seed >> 40) % (2 * spread - 1) + 1 - spread;
            double scales[] = {sign, sign * ldexp(1.0, scale)};
            for (int i = 0; i < POWER_BLOCK; i++) {
                base[i] = (REAL)(NAMED(power_fraction)(&seed) * scales[i & 1]);
            }
            NAMED(raise)(base, exact, open, POWER_BLOCK, &task);
            NAMED(raise)(base, exact, open_to_probe, POWER_BLOCK, &probe);
            for (int i = 0; i < POWER_BLOCK; i++) {
                held[asked] = base[i];
                rounded[asked] = exact[i];
                asked += open[i] && !open_to_probe[i];
            }
            loop_ask(loop, held, &exponent, answer, asked, sizeof(REAL));
            if (asked == 0 || memcmp(answer, rounded, asked * sizeof(REAL)) != 0) {
                return 0;
            }
        }
    }
    return 1;
}

static int
NAMED(power_probed)(const PowerLoop *loop)
{
    if (!NAMED(power_steady)(loop) || !NAMED(power_agrees)(loop, -1)) {
        return POWER_NONE;
    }
    return NAMED(power_agrees)(loop, 1) ? POWER_ALL : POWER_NEGATIVE;
}

/* The inner loop. */
static void
NAMED(power)(char **pointers, const npy_intp *dimensions, const npy_intp *steps, void *data)
{
    PowerLoop *loop = (PowerLoop *)data;
    npy_intp count = dimensions[0], bytes = count * (npy_intp)sizeof(REAL);
    REAL exponent = count > 0 ? *(const REAL *)pointers[1] : 0;
    double least = signbit(exponent) ? POWER_LEAST_INVERSE : POWER_LEAST, size = fabs((double)exponent);
    int plain = steps[1] == 0 && steps[0] == sizeof(REAL) && steps[2] == sizeof(REAL) && count >= POWER_FEW
                && isgreaterequal(size, least) && islessequal(size, POWER_MOST) && size == (double)(int)size
                && (pointers[0] == pointers[2] || pointers[0] + bytes + POWER_GAP <= pointers[2]
                    || pointers[2] + bytes + POWER_GAP <= pointers[0]);
    if (plain && loop->trusted == POWER_UNPROBED) {
        loop->trusted = NAMED(power_probed)(loop);
    }
    if (!plain || loop->trusted == POWER_NONE) {
        loop->function(pointers, dimensions, steps, loop->data);
        return;
    }
    const REAL *base = (const REAL *)pointers[0];
    REAL *out = (REAL *)pointers[2];
    for (npy_intp first = 0, behind; first < count; first = behind) {
        npy_intp runs = 0;
        for (behind = first; behind < count && runs < POWER_RUNS; runs++) {
            npy_intp size = count - behind < POWER_BLOCK ? count - behind : POWER_BLOCK;
            if (!NAMED(power_is_loops)(loop, base + behind, size)) {
                break;
            }
            behind += size;
        }
        if (runs > 0) {
            loop_ask(loop, base + first, &exponent, out + first, behind - first, sizeof(REAL));
        }
        if (behind < count && runs < POWER_RUNS) {
            npy_intp size = count - behind < POWER_BLOCK ? count - behind : POWER_BLOCK;
            NAMED(power_block)(loop, base + behind, &exponent, out + behind, size);
            behind += size;
        }
    }
}

#undef POWER_PADDED
