/* The runs of hidden functions on a thread, and the bounds of its C stack. Part of run.c. */
#ifndef PIJIT_CORE_THREAD_RUNS_H
#define PIJIT_CORE_THREAD_RUNS_H

#include "cpython/stack_end_inl.h"
#include "hidden/hidden.h"

static __thread struct {
    Record *newest; /* the runs of hidden functions, the innermost first */
    StackBounds stack;
} here = {NULL, STACK_UNKNOWN};

#endif
