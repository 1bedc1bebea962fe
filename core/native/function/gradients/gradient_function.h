/* GradientFunction: the base of gradient functions, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_GRADIENT_FUNCTION_H
#define PIJIT_FUNCTION_GRADIENTS_GRADIENT_FUNCTION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject GradientFunction_Type;

#endif
