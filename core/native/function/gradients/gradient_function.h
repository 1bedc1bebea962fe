/* GradientFunction: the base of gradient functions, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_GRADIENT_FUNCTION_H
#define PIJIT_FUNCTION_GRADIENTS_GRADIENT_FUNCTION_H

#include "function/tiering/call_profile.h"

extern PyTypeObject GradientFunction_Type;

/* What is counted for a gradient function, borrowed. */
const CallProfile *gradient_function_profile(PyObject *function);

#endif
