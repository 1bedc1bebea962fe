/* Random numbers, one or an array of them, drawn as the methods of NumPy's and Python's generators draw them. */
#ifndef PIJIT_RUNTIME_UFUNCS_RANDOM_H
#define PIJIT_RUNTIME_UFUNCS_RANDOM_H

#include "launcher/abi.h"

extern PyMethodDef draw_functions[];

#endif
