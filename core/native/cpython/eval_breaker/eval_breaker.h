/* The eval breaker: the word that tells that the interpreter has work to do between two bytecodes.
 *
 * Such work is: run a signal handler, hand over the GIL, make a pending call, raise an asynchronous exception.
 * Kernels poll the word at the back edges of their loops. There is one implementation per CPython family.
 *
 * A kernel that leaves at a poll has values that are not stored in the frame yet. Bytecode would test the word as
 * soon as the launcher returns. So the launcher holds the request back, and linked code shows it again when all
 * values are in place. The launcher does the same if a request arrives while a kernel leaves for another reason. */
#ifndef PIJIT_BREAKER_H
#define PIJIT_BREAKER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* Up to CPython 3.12 all threads share one word, which is not 0 when there is work to do. */
#if PY_VERSION_HEX < 0x030D0000
#include "cpython/eval_breaker/shared_inl.h"
#else
#include "cpython/eval_breaker/per_thread_inl.h"
#endif

/* Set the word again if any request that sets it is still pending. The GIL is held. */
void breaker_restore(void);

/* Whether a request is pending that concerns this thread, which does not hold the GIL. Requests for the GIL do not
 * count. */
int breaker_asks(PyThreadState *tstate);

/* Whether this is the thread that runs signal handlers. */
int thread_runs_handlers(void);

/* The number of times that the GIL has gone from one thread to another. The GIL is held. */
unsigned long gil_switches(void);

/* no_monitoring.inc, monitoring_tools_inl.h; the GIL is held. Whether a tool of sys.monitoring (CPython 3.12) listens to
 * events of all code; whether any tool is in use; whether one listens to events of a code object, or of one nested in
 * it. */
int monitoring_listens(void);
int monitoring_in_use(void);
int monitoring_listens_to(PyCodeObject *code);

#endif
