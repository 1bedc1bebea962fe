/* On-stack replacement, bounded: moves a running call to newer linked code. */
#ifndef PIJIT_HIDDEN_OSR_H
#define PIJIT_HIDDEN_OSR_H

#include "function/dispatch.h"
#include "function/tiering/osr_check.h"

extern PyTypeObject Move_Type;

PyObject *hook_osr_check(PyObject *Py_UNUSED(module), PyObject *ask);

#endif
