/* On-stack replacement, bounded: moves a running call to newer linked code. */
#ifndef PIJIT_HIDDEN_OSR_H
#define PIJIT_HIDDEN_OSR_H

#include "function/dispatch.h"

extern PyTypeObject Move_Type;
extern PyTypeObject Mover_Type;

PyObject *hook_mover(PyObject *Py_UNUSED(module), PyObject *ask);

#endif
