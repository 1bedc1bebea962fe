/* JointDispatch: calls of a gradient function that run joint functions, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_JOINT_DISPATCH_H
#define PIJIT_FUNCTION_GRADIENTS_JOINT_DISPATCH_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject JointDispatch_Type;

/* What a call has given; joint_outcome_release drops the references. */
typedef struct {
    PyObject *value;     /* owned; NULL unless an entry ran */
    PyObject *gradients; /* owned: a tuple; NULL unless an entry ran */
    PyObject *error;     /* owned; an Exception that an entry raised, or NULL */
    Py_ssize_t number;   /* the entry */
} JointOutcome;

/* Run the entry for a tuple of arguments: 1 if one ran or raised, 0 if nothing ran, -1 with an exception set. */
int joint_run(PyObject *dispatch, PyObject *args, JointOutcome *outcome);

void joint_outcome_release(JointOutcome *outcome);

#endif
