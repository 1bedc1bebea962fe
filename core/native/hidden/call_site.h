/* Call sites: calls from linked code to functions that are compiled on their own (callees.h). */
#ifndef PIJIT_HIDDEN_CALL_SITE_H
#define PIJIT_HIDDEN_CALL_SITE_H

#include "function/dispatch.h"

/* 0, or -1 with an exception set. */
int site_names(void);

extern PyTypeObject CallSite_Type;

/* bind(pair): the callable that LOAD_ATTR has pushed for a call. Linked code packs it in a tuple; an empty slot is a
 * NULL item. */
PyObject *site_bind(PyObject *Py_UNUSED(module), PyObject *pair);

#endif
