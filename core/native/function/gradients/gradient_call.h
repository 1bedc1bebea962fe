/* GradientCall: the usual call of a gradient function, on all versions. */
#ifndef PIJIT_FUNCTION_GRADIENTS_GRADIENT_CALL_H
#define PIJIT_FUNCTION_GRADIENTS_GRADIENT_CALL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject GradientCall_Type;

/* How a GradientCall has answered a call. */
typedef enum {
    NOT_ANSWERED,  /* nothing ran; there is no answer */
    ANSWERED,      /* with what the gradient function returns */
    ANSWER_RAISED, /* an entry has raised; the answer tells what */
    ANSWER_FAILED, /* an exception is set; there is no answer */
} Answered;

/* Call a GradientCall with a tuple of arguments; *answer is a NEW reference, or NULL if there is none. */
Answered gradient_call_answer(PyObject *self, PyObject *args, PyObject **answer);

/* Tell GradientCalls of this thread whether a tape records; a function of the module. */
PyObject *gradient_set_recording(PyObject *module, PyObject *on);

#endif
