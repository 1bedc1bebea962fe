/* Entries of dicts and sets, and positions of their iterators, for the Python back end. */
#ifndef PIJIT_LAUNCHER_PYTHON_ENTRIES_H
#define PIJIT_LAUNCHER_PYTHON_ENTRIES_H

#include "launcher/abi.h"

extern PyMethodDef entry_functions[];

#endif
