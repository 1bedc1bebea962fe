/* Module functions for Python code: addresses of math functions and of ufunc inner loops, and probes. */
#ifndef PIJIT_RUNTIME_UFUNCS_SYMBOLS_H
#define PIJIT_RUNTIME_UFUNCS_SYMBOLS_H

#include "launcher/abi.h"

extern PyMethodDef symbol_functions[];

#endif
