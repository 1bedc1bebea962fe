/* Hidden functions: made, found again and pooled. */
#ifndef PIJIT_HIDDEN_HIDDEN_FUNCTIONS_H
#define PIJIT_HIDDEN_HIDDEN_FUNCTIONS_H

#include "function/dispatch.h"

/* Give a hidden function the defaults that the function has now: 0, or -1 with an exception set. */
int hidden_refresh(PyFunctionObject *hidden, PyFunctionObject *function);

/* The hidden function of linked code for a function: a NEW reference, or NULL with an exception set. *kept is a list of
 * the last few. The function's JitFunction owns it and shows it to the garbage collector. */
PyFunctionObject *hidden_find(PyObject **kept, PyFunctionObject *function, PyCodeObject *linked);

/* The pooled hidden function of an Entrance, or a NEW one; NULL with an exception set. The caller owns it. */
PyFunctionObject *hidden_take(PyObject *entrance, PyFunctionObject *function, PyCodeObject *linked);

/* Empty a hidden function that has run, and keep it in *pooled. The reference is taken over. The function is released
 * instead if *pooled is occupied, or if the program may have seen the function. */
void hidden_rest(PyFunctionObject *hidden, PyFunctionObject **pooled);

/* Call a hidden function whose code begins with `arrive`; all arguments are None until then. NEW reference, or NULL
 * with an exception set. */
PyObject *hidden_arrive(PyFunctionObject *hidden);

#endif
