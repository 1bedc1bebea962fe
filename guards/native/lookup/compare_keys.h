/* Comparison of a wanted key with a key of a table, without running user code. Part of lookup_inl.h. */
#ifndef PIJIT_GUARDS_COMPARE_KEYS_H
#define PIJIT_GUARDS_COMPARE_KEYS_H

#include "numpy_api.h"

/* Whether comparing a key with the wanted one runs no user code. */
int compares_quietly(PyObject *key);

#endif
