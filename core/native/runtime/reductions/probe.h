/* Probe of NumPy's reductions: finds the lengths of the runs that NumPy passes to a loop. */
#ifndef PIJIT_RUNTIME_REDUCTIONS_PROBE_H
#define PIJIT_RUNTIME_REDUCTIONS_PROBE_H

#include "launcher/abi.h"
#include <numpy/ufuncobject.h>

/* The loop of `ufunc` whose operands all have one dtype, or -1. */
int uniform_loop(const PyUFuncObject *ufunc, int typenum);

/* Sets reduce_chunk by a sum of scattered numbers, which rounds differently for other runs. Returns 0, or -1 with an
 * exception set. */
int reduce_probe(void);

#endif
