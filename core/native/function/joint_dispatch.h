/* JointDispatch: calls of a gradient function that run joint functions, on all versions. */
#ifndef PIJIT_FUNCTION_JOINT_DISPATCH_H
#define PIJIT_FUNCTION_JOINT_DISPATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject JointDispatch_Type;

#endif
