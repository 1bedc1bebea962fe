/* Module constants with which compiled kernels poll the eval breaker (eval_breaker.h). */
#ifndef PIJIT_LAUNCHER_POLLS_H
#define PIJIT_LAUNCHER_POLLS_H

#include "launcher/abi.h"

/* 0, or -1 with an exception set. */
int polls_register(PyObject *module);

#endif
