/* The eval breaker: the word that says that the interpreter has something to do between two bytecodes -
 * run a signal handler, hand over the GIL, make a pending call, raise an asynchronous exception. Kernels poll
 * it at the back edges of their loops. One implementation per CPython family.
 *
 * A kernel that leaves for it has values that are not stored in the frame yet, and bytecode would look at the
 * word as soon as the launcher returns. So the launcher holds the request back, and linked code lets it go
 * when all is in place. The same where a kernel leaves for another reason, while a request has come. */
#ifndef PIJIT_BREAKER_H
#define PIJIT_BREAKER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

/* Up to CPython 3.12 the word is one for all threads, and not 0 when there is something to do. */
#if PY_VERSION_HEX < 0x030D0000
#include "cpython/eval_breaker/shared.h"
#else
#include "cpython/eval_breaker/per_thread.h"
#endif

/* Set the word again if something of what sets it is still to be done. The GIL is held. */
void breaker_restore(void);

/* Whether something that sets the word is for this thread, which is without the GIL: who wants the GIL is not. */
int breaker_asks(PyThreadState *tstate);

/* Whether this is the thread that runs signal handlers. */
int thread_runs_handlers(void);

/* How often one thread has taken the GIL after another. The GIL is held. */
unsigned long gil_switches(void);

/* no_monitoring.h, monitoring_tools.h: whether a tool of sys.monitoring (CPython 3.12) listens to events of all code; whether there is
 * a tool; whether one listens to events of a code object, or of one in it. The GIL is held. */
int monitoring_listens(void);
int monitoring_in_use(void);
int monitoring_listens_to(PyCodeObject *code);

#endif
