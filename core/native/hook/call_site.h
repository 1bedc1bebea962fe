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

/* A vectorcall costs no level of recursion, so the call that follows has all of them. */
PyObject *site_vectorcall(PyObject *self, PyObject *const *Py_UNUSED(args), size_t Py_UNUSED(nargsf),
                          PyObject *Py_UNUSED(names));

#endif
