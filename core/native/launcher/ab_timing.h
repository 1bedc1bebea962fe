/* Two ways to run one thing - kernels, or bytecode as it is - timed in random order until it is clear which is faster.
 *
 * Medians are compared: interrupts and other threads hit a few runs. */
#ifndef PIJIT_COMPARISON_H
#define PIJIT_COMPARISON_H

#include "launcher/clock.h"

#define SAMPLES 15
#define FIRST_SAMPLES 3          /* of kernels, before bytecode runs as it is */
#define CLEAR_WIN 2              /* bytecode took so many times as long: nothing more to measure */
#define LONG_RUN 20000           /* ns; how cold the caches are hardly matters: two runs tell as much as three */
#define VERY_LONG_RUN 50000000   /* ns; longer than other processes keep a processor: one run tells it */
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
    COMPARISON_WON,              /* by the kernels; also where bytecode is not run at all, for it may take far longer */
    COMPARISON_LOST
} Outcome;

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

/* Of few runs it is the one to rely on: an interrupt makes a run longer, never shorter. */
static inline int64_t
sample_shortest(const Sample *sample)
{
    int64_t shortest = sample->ns[0];
    for (int i = 1; i < sample->count; i++) {
        shortest = sample->ns[i] < shortest ? sample->ns[i] : shortest;
    }
    return shortest;
}

/* Whether bytecode takes so much longer that this is enough to know. */
static inline int
comparison_is_clear(const Comparison *self, int64_t kernels)
{
    int64_t shortest = sample_shortest(&self->plain);
    int enough = shortest > VERY_LONG_RUN ? 1 : shortest > LONG_RUN ? 2 : FIRST_SAMPLES;
    return self->plain.count >= enough && shortest > CLEAR_WIN * kernels;
}

/* Whether bytecode has its turn. Not every second time: arguments may alternate too. */
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

/* What the samples say. `limit` in ns, or 0: where kernels take longer, bytecode is not tried. */
static inline Outcome
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
