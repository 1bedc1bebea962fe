/* Python errors in functions that kernels call with or without the GIL.
 *
 * Such functions allocate memory by PyMem_Raw*, which needs no GIL. */
#ifndef PIJIT_GIL_H
#define PIJIT_GIL_H

#include "launcher/abi.h"

/* True if this thread has an exception set. */
static inline int
error_is_set(void)
{
    PyThreadState *tstate = PyGILState_GetThisThreadState(); /* borrowed */
#if PY_VERSION_HEX < 0x030C0000
    return tstate != NULL && tstate->curexc_type != NULL;
#else
    return tstate != NULL && tstate->current_exception != NULL;
#endif
}

static void
error_set(PyObject *type, const char *message)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_SetString(type, message);
    PyGILState_Release(gil);
}

static void
memory_error(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_NoMemory();
    PyGILState_Release(gil);
}

#endif
