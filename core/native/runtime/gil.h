/* Python errors in functions that kernels call with or without the GIL. */
#ifndef PIJIT_RUNTIME_GIL_H
#define PIJIT_RUNTIME_GIL_H

#include "launcher/abi.h"

/* Sets an exception; takes the GIL for it. */
void error_set(PyObject *type, const char *message);
/* Sets MemoryError; takes the GIL for it. */
void memory_error(void);

#endif
