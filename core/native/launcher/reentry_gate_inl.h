/* The gate of a re-entry: back-off that decides whether bytecode at a loop header re-enters the kernel.
 *
 * Bytecode arrives at the header after the kernel with the loop was left inside it. Linked code steps the launcher of
 * the re-entry, as an iterator. An item means yes, and the code that follows calls the launcher. Each run of the
 * kernel is judged by its number of loop iterations. After a run with few, the gate stays shut for twice as many
 * arrivals as before. So loops that are left in every iteration run as bytecode. At first the gate is shut for many
 * arrivals, because there is no kernel yet. All calls of the function share the gate. It only decides where code
 * runs. */
#ifndef PIJIT_LAUNCHER_REENTRY_GATE_INL_H
#define PIJIT_LAUNCHER_REENTRY_GATE_INL_H

#define ENOUGH_ITERATIONS 8 /* iterations that save more time than a re-entry costs */
#define FIRST_WAIT 1023     /* arrivals */
#define LONGEST_WAIT 8191

typedef struct {
    int exists;
    int wait; /* arrivals until it opens */
    int last_wait, longest_wait;
    int began_late; /* the next run begins after a wait, somewhere between two exits */
} Gate;

static inline Gate
gate_new(int exists)
{
    return (Gate){exists, FIRST_WAIT, FIRST_WAIT, LONGEST_WAIT, 1};
}

/* Whether the gate is open at this arrival. */
static inline int
gate_opens(Gate *gate)
{
    if (gate->wait > 0) {
        gate->wait--;
        return 0;
    }
    return gate->exists;
}

/* Judge a run by its iterations. A run that began late does not measure the time between exits; the next run does. */
static inline void
gate_judge(Gate *gate, long long iterations)
{
    int longer = 2 * gate->last_wait + 1;
    if (iterations >= ENOUGH_ITERATIONS) {
        gate->last_wait = gate->wait = 0;
    }
    else if (!gate->began_late) {
        gate->last_wait = longer < gate->longest_wait ? longer : gate->longest_wait;
        gate->wait = gate->last_wait;
    }
    gate->began_late = gate->wait > 0;
}

#endif
