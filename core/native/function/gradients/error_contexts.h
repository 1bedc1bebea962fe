/* ErrorContexts: contexts with NumPy's error states for joint functions, on all versions.
 *
 * A context here is a copy of the caller's with another error state. Entering one takes less time than setting and
 * resetting a context variable. Copies are rebuilt once the caller's context has other variables. */
#ifndef PIJIT_FUNCTION_GRADIENTS_ERROR_CONTEXTS_H
#define PIJIT_FUNCTION_GRADIENTS_ERROR_CONTEXTS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { RAISING, IGNORING, ERROR_STATES }; /* the error states of forward and of backward functions */

typedef struct {
    PyObject *variable;             /* owned; NumPy's context variable; NULL before error_contexts_set */
    PyObject *states[ERROR_STATES]; /* owned */
    PyObject *copies[ERROR_STATES]; /* owned; a context with each state, or NULL */
    PyObject *variables;            /* owned; what a context without these states has, of which there are copies */
} ErrorContexts;

/* Set the context variable and the states. */
void error_contexts_set(ErrorContexts *self, PyObject *variable, PyObject *const *states);

/* An error state that a call uses: it stays the same if code sets other ones. */
typedef struct {
    PyObject *variable; /* owned */
    PyObject *state;    /* owned */
    int which;
} CallErrorState;

CallErrorState error_state_take(ErrorContexts *self, int which);
void error_state_release(CallErrorState *state);

/* NEW reference to callable(*args) under an error state; NULL with an exception set. What it sets in other context
 * variables is set in the caller's context, too. */
PyObject *error_state_call(ErrorContexts *self, const CallErrorState *state, PyObject *callable, PyObject *args);

int error_contexts_traverse(const ErrorContexts *self, visitproc visit, void *arg);
void error_contexts_release(ErrorContexts *self);

#endif
