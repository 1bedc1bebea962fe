/* UNBOUND, which stands for NULL in lists of values. */
#ifndef PIJIT_GUARDS_UNBOUND_H
#define PIJIT_GUARDS_UNBOUND_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Owned, the only instance; NULL before unbound_ready. */
extern PyObject *unbound;

/* Makes `unbound`, once: 0, or -1 with an exception set. */
int unbound_ready(void);

#endif
