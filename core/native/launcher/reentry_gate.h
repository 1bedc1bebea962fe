/* The gate of a re-entry: whether bytecode that arrives at the loop's header is to go on in the kernel.
 *
 * Bytecode comes there when the kernel that has the loop was left in the middle of it. Linked code asks the launcher of
 * the re-entry, as an iterator: an item means yes, and what follows calls the launcher. Each run of the kernel is
 * judged by the rounds of loops that it made: after one that made few, the gate stays shut for twice as many arrivals
 * as before, so that loops which are left in every round run as bytecode. It is first opened after a long time:
 * there is no kernel yet. The gate belongs to all calls of the function; it decides nothing but where code runs. */
#ifndef PIJIT_GATE_H
#define PIJIT_GATE_H

#define ENOUGH_ROUNDS 8         /* to come back costs less than these save */
#define FIRST_WAIT 1023         /* arrivals */
#define LONGEST_WAIT 8191

typedef struct {
    int exists;
    int wait;                   /* arrivals until it opens */
    int last_wait, longest_wait;
    int began_late;             /* the next run begins somewhere between two exits */
} Gate;

static inline Gate
gate_new(int exists)
{
    return (Gate){exists, FIRST_WAIT, FIRST_WAIT, LONGEST_WAIT, 1};
}

/* Whether it is open at one arrival. */
static inline int
gate_opens(Gate *gate)
{
    if (gate->wait > 0) {
        gate->wait--;
        return 0;
    }
    return gate->exists;
}

/* What a run was worth. One that began late is no measure of the time between exits: the next one is. */
static inline void
gate_judge(Gate *gate, long long rounds)
{
    int longer = 2 * gate->last_wait + 1;
    if (rounds >= ENOUGH_ROUNDS) {
        gate->last_wait = gate->wait = 0;
    }
    else if (!gate->began_late) {
        gate->last_wait = longer < gate->longest_wait ? longer : gate->longest_wait;
        gate->wait = gate->last_wait;
    }
    gate->began_late = gate->wait > 0;
}

#endif
