/* Python errors in functions that kernels call with or without the GIL; inlined functions. */
#ifndef PIJIT_RUNTIME_GIL_INL_H
#define PIJIT_RUNTIME_GIL_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

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

#endif
