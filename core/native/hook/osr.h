/* On-stack replacement, bounded: moves a running call to newer linked code. */
#ifndef PIJIT_HOOK_OSR_H
#define PIJIT_HOOK_OSR_H

#include "function/dispatch.h"

extern PyTypeObject Move_Type;
extern PyTypeObject OsrCheck_Type;

PyObject *hook_osr_check(PyObject *Py_UNUSED(module), PyObject *args);

#endif
