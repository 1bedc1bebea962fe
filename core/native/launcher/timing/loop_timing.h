/* LoopTiming: A/B timing of the launchers of one loop of linked code against bytecode.
 *
 * It runs while the loop runs (perf_statistics). One of the launchers is the clock: it is called equally often
 * whether kernels or bytecode run. The time between its calls is measured in windows with equal numbers of calls. In
 * windows of bytecode all launchers of the loop return MISS.
 *
 *   WAITING    until the clock has been called often enough
 *   MEASURING  windows of kernels and of bytecode, in random order; see ab_timing_inl.h
 *   KEPT, LOST on_result(lost, ns of kernels, ns of bytecode) is called; both times are per call of the clock */
#ifndef PIJIT_LAUNCHER_TIMING_LOOP_TIMING_H
#define PIJIT_LAUNCHER_TIMING_LOOP_TIMING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "launcher/timing/ab_timing_inl.h"

typedef enum { LOOP_WAITING, LOOP_MEASURING, LOOP_KEPT, LOOP_LOST } LoopState;

typedef struct {
    PyObject_HEAD
    PyObject *on_result; /* owned */
    int64_t limit;       /* ns between calls of the clock: above this bytecode is not tried; 0: no limit */
    LoopState state;
    int plain;           /* this window is one of bytecode */
    int calls;           /* calls of the clock: so far while waiting, then those left in the window */
    int window;          /* calls of the clock per window */
    int restarts;        /* windows that were given up because another run came in between */
    int misses;          /* calls of launchers in a window of bytecode, whose cost is subtracted */
    int64_t start;       /* ns at which the window began */
    const void *running; /* the run of linked code (launch_api.h); only its identity is used */
    Comparison windows;
} LoopTiming;

extern PyTypeObject LoopTiming_Type;

/* The number of windows measured so far, of all loops. Other timers must ignore a call that contains a window. */
extern int64_t loop_windows;

/* Record a call of the clock. */
void loop_timing_tick(LoopTiming *self);

#endif
