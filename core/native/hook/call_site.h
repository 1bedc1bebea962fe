/* Call sites: calls from linked code to functions that are compiled on their own (callees.h). */
#ifndef PIJIT_HOOK_CALL_SITE_H
#define PIJIT_HOOK_CALL_SITE_H

#include "function/callees.h"
#include "function/dispatch.h"

/* Stop waiting for the thread's next frame. */
void site_forget(void);

/* The Callee of the waiting site that a starting frame belongs to: owned; NULL: none. The wait is over. */
Callee *site_take(PyFrameObject *frame);

extern PyTypeObject CallSite_Type;

#endif
