/* How a backward sweep calls functions: plainly, or so that enclosing tapes record the calls (gradients of gradients). */
#ifndef PIJIT_TAPE_RUN_H
#define PIJIT_TAPE_RUN_H

#include "numpy_api.h"

/* owned: the callable of sweeps that nothing records; plain_run(function, *args, **kwargs) is a plain call. Made by
 * run_ready: 0, or -1 with an exception set. */
extern PyObject *plain_run;
int run_ready(void);

/* target[index] = value: 0, or -1 with an exception set. */
int run_assign(PyObject *run, PyArrayObject *target, PyObject *index, PyObject *value);

#endif
