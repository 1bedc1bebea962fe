/* The tables of the interface between kernels and the launcher, for Python. */
#ifndef PIJIT_LAUNCHER_ABI_TABLES_H
#define PIJIT_LAUNCHER_ABI_TABLES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds ABI_NUMBERS, INPUT_CODES and OUTPUT_CODES to the module; 0, or -1 with an exception set. */
int abi_tables_register(PyObject *module);

#endif
