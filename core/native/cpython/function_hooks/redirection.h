/* Redirection: calls of a plain Python function go to a C function instead. Nothing else shows it.
 *
 * CPython 3.12 and later: PyFunction_SetVectorcall, which all call sites respect (redirection_312_314.c). CPython 3.11,
 * whose evaluator ignores the vectorcall of functions: the function gets a trampoline as its code (redirection_311.c). */
#ifndef PIJIT_CPYTHON_REDIRECTION_H
#define PIJIT_CPYTHON_REDIRECTION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A function that can be redirected. The owner ends the redirection before the function dies. */
typedef struct {
    PyFunctionObject *function; /* borrowed */
    PyObject *code;             /* borrowed from the function: its own code */
    vectorcallfunc plain;       /* how the function is called if it is not redirected; NULL on CPython 3.11 */
    PyObject *trampoline;       /* owned: the code of the function while it is redirected; NULL on CPython 3.12 and later */
} Redirection;

/* Notice functions that die, or get other code or defaults: 0, or -1 with an exception set. Calls after the first do
 * nothing. */
int redirection_watch(void);

/* Fill in the redirection of a function, which is called as before: 0, or -1 with an exception set. */
int redirection_begin(Redirection *redirection, PyFunctionObject *function);

/* Calls are as before, and the references of the redirection are released. */
void redirection_end(Redirection *redirection);

/* From now on calls go to hooked_call, or (redirection_off) are as before. */
void redirection_on(Redirection *redirection);
void redirection_off(Redirection *redirection);

/* function_hooks.c: a call of a redirected function. NEW reference, or NULL with an exception set. */
PyObject *hooked_call(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names);

/* function_hooks.c: a function dies, or gets other code or defaults. */
void hook_forget(PyFunctionObject *function);

#endif
