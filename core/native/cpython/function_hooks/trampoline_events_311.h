/* Events of tracers that show the frame of a trampoline (redirection_311.c), on CPython 3.11: it returns, or an exception
 * leaves it. */
#ifndef PIJIT_CPYTHON_TRAMPOLINE_EVENTS_311_H
#define PIJIT_CPYTHON_TRAMPOLINE_EVENTS_311_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Hide the events of the innermost trampoline, which is about to return, from the tracers of its thread: 0, or -1 with an
 * exception set. `target` is the TrampolineTarget that it has called. */
int trampoline_events_hide(PyThreadState *tstate, PyObject *target);

#endif
