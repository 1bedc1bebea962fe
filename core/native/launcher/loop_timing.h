/* LoopTrial: the launchers of one loop of linked code, measured against bytecode while the loop runs (perf_statistics).
 *
 * One of them is the clock: the loop comes to it as often whether kernels run or bytecode does. The time between its calls
 * is measured in windows of as many calls each; in those of bytecode, all launchers of the loop answer MISS.
 *
 *   WAITING    until the clock has been called often
 *   MEASURING  windows of one or the other, in random order; see ab_timing.h
 *   KEPT, LOST on_verdict(lost, ns of kernels, ns of bytecode) is called; both per call of the clock */
#ifndef PIJIT_LOOP_TRIAL_H
#define PIJIT_LOOP_TRIAL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "launcher/ab_timing.h"

typedef enum { LOOP_WAITING, LOOP_MEASURING, LOOP_KEPT, LOOP_LOST } LoopState;

typedef struct {
    PyObject_HEAD
    PyObject *on_verdict;        /* owned */
    int64_t limit;               /* ns between calls of the clock; where it takes longer bytecode is not tried; 0: none */
    LoopState state;
    int plain;                   /* bytecode's turn */
    int calls;                   /* of the clock: all of them while waiting, then those left of the window */
    int window;                  /* calls of the clock in a window */
    int restarts;                /* windows that were given up, for another run came in between */
    int declined;                /* calls of launchers in bytecode's window, which cost time of their own */
    int64_t start;               /* of the window; ns */
    const void *running;         /* the run of linked code (launch_api.h); only its identity counts */
    Comparison windows;
} LoopTrial;

extern PyTypeObject LoopTrial_Type;

/* How many windows have been measured, of all loops: a call in which there was one is no measure of anything else. */
extern int64_t loop_windows;

/* The clock is called. */
void loop_trial_tick(LoopTrial *self);

#endif
