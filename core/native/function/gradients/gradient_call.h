/* GradientCall: the usual call of a gradient function, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_GRADIENT_CALL_H
#define PIJIT_FUNCTION_GRADIENTS_GRADIENT_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject GradientCall_Type;

/* Tell GradientCalls of this thread whether a tape records; a function of the module. */
PyObject *gradient_set_recording(PyObject *module, PyObject *on);

#endif
