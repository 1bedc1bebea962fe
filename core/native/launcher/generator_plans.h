/* Checks of plans for suspended generators, which output codes contain. */
#ifndef PIJIT_LAUNCHER_GENERATOR_PLANS_H
#define PIJIT_LAUNCHER_GENERATOR_PLANS_H

#include "launcher/abi.h"

/* Whether an object is (int, tuple of ints, tuple of ints). */
int plan_check(PyObject *plan);

#endif
