/* The runs of hidden functions on a thread, and the bounds of its C stack. */
#ifndef PIJIT_CORE_THREAD_RUNS_H
#define PIJIT_CORE_THREAD_RUNS_H

#include "cpython/stack_end_inl.h"
#include "hidden/hidden.h"

typedef struct {
    RunRecord *newest; /* the runs of hidden functions, the innermost first */
    StackBounds stack;
} ThreadRuns;

extern __thread ThreadRuns here;

#endif
