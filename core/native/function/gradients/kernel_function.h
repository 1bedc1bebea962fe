/* KernelFunction: a function that is one kernel, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_KERNEL_FUNCTION_H
#define PIJIT_FUNCTION_GRADIENTS_KERNEL_FUNCTION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject KernelFunction_Type;

#endif
