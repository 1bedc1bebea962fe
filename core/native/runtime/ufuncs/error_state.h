/* NumPy's error state during a library call: errors that would be warnings are raised. */
#ifndef PIJIT_RUNTIME_UFUNCS_ERROR_STATE_H
#define PIJIT_RUNTIME_UFUNCS_ERROR_STATE_H

#include "launcher/abi.h"

/* The state that errors_restore puts back. `old` is NULL if errors_raise changed nothing. */
typedef struct {
    PyObject *old; /* owned: the object of geterrobj, or the context variable's token */
} ErrorState;

/* The references are never released. `variable` is NULL before NumPy 2, and so are the functions of the other NumPy. */
typedef struct {
    PyObject *variable; /* owned: the context variable of NumPy's error state */
    PyObject *make;     /* owned: _make_extobj */
    PyObject *describe; /* owned: _get_extobj_dict */
    PyObject *source;   /* owned: the state from which `strict` was made */
    PyObject *strict;   /* owned: that state, but errors raise unless they are ignored */
    PyObject *get;      /* owned: geterrobj */
    PyObject *set;      /* owned: seterrobj */
} ErrorFunctions;

extern ErrorFunctions error_state;

/* Finds the functions. Call it while no kernel runs, because importing runs Python code. Returns 0, or -1 with an
 * exception set. */
int errors_find(void);

#define ERROR_KIND 7

/* Makes NumPy raise errors that are not ignored. Returns 0, or -1 with an exception set. */
int errors_raise(ErrorState *saved);

/* Restores the state from before errors_raise. An exception that is set stays set. */
void errors_restore(ErrorState *saved);

#endif
