/* A/B timing: kernels and the original bytecode run in random order, until it is clear which is faster.
 *
 * It compares medians, because interrupts and other threads affect a few runs. */
#ifndef PIJIT_LAUNCHER_TIMING_AB_TIMING_INL_H
#define PIJIT_LAUNCHER_TIMING_AB_TIMING_INL_H

#include "launcher/timing/clock_inl.h"

#define SAMPLES 15
#define FIRST_SAMPLES 3        /* runs of kernels before the first run of bytecode */
#define CLEAR_WIN 2            /* enough samples if bytecode takes more than twice as long */
#define LONG_RUN 20000         /* ns; cold caches hardly matter in longer runs: two samples are as good as three */
#define VERY_LONG_RUN 50000000 /* ns; longer than other processes keep a processor: one sample is enough */
#define TOLERANCE(ns) ((ns) / 50 + 8)

typedef struct {
    int count;
    int64_t ns[SAMPLES];
} Sample;

typedef struct {
    Sample kernels, plain;
    uint32_t random;
} Comparison;

typedef enum {
    COMPARISON_OPEN,
    COMPARISON_WON, /* by the kernels; also if bytecode was not run because it may take far longer */
    COMPARISON_LOST
} ComparisonResult;

static inline int64_t
sample_median(const Sample *sample)
{
    int64_t sorted[SAMPLES] = {0};
    for (int i = 0; i < sample->count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > sample->ns[i]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = sample->ns[i];
    }
    return sorted[sample->count / 2];
}

static inline void
comparison_start(Comparison *self)
{
    self->kernels.count = self->plain.count = 0;
}

static inline void
comparison_add(Comparison *self, int plain, int64_t ns)
{
    Sample *sample = plain ? &self->plain : &self->kernels;
    if (sample->count < SAMPLES) {
        sample->ns[sample->count++] = ns;
    }
}

/* The shortest run, which is the most reliable of few: an interrupt makes a run longer, never shorter. */
static inline int64_t
sample_shortest(const Sample *sample)
{
    int64_t shortest = sample->ns[0];
    for (int i = 1; i < sample->count; i++) {
        shortest = sample->ns[i] < shortest ? sample->ns[i] : shortest;
    }
    return shortest;
}

/* Whether bytecode takes so much longer that no more samples are needed. */
static inline int
comparison_is_clear(const Comparison *self, int64_t kernels)
{
    int64_t shortest = sample_shortest(&self->plain);
    int enough = shortest > VERY_LONG_RUN ? 1 : shortest > LONG_RUN ? 2 : FIRST_SAMPLES;
    return self->plain.count >= enough && shortest > CLEAR_WIN * kernels;
}

/* Whether the next run is one of bytecode. They do not simply alternate, because arguments may alternate, too. */
static inline int
comparison_plain_next(Comparison *self)
{
    int ahead = self->kernels.count - self->plain.count;
    if (self->kernels.count < FIRST_SAMPLES || ahead < -1) {
        return 0;
    }
    if (self->plain.count == 0 || self->kernels.count == SAMPLES || ahead > 1) {
        return 1;
    }
    if (self->plain.count == SAMPLES) {
        return 0;
    }
    self->random = self->random * 1664525u + 1013904223u;
    return !(self->random >> 31);
}

/* The outcome of the samples so far. `limit`: if kernels take more ns than this, bytecode is not tried; 0: no limit. */
static inline ComparisonResult
comparison_judge(const Comparison *self, int64_t limit)
{
    if (self->kernels.count == 0) {
        return COMPARISON_OPEN;
    }
    int64_t kernels = sample_median(&self->kernels);
    if (self->plain.count == 0) {
        int too_long = self->kernels.count >= FIRST_SAMPLES && limit > 0 && sample_shortest(&self->kernels) > limit;
        return too_long ? COMPARISON_WON : COMPARISON_OPEN;
    }
    if (self->kernels.count == SAMPLES && self->plain.count == SAMPLES) {
        int64_t plain = sample_median(&self->plain);
        return kernels > plain + TOLERANCE(plain) ? COMPARISON_LOST : COMPARISON_WON;
    }
    return comparison_is_clear(self, kernels) ? COMPARISON_WON : COMPARISON_OPEN;
}

#endif
