/* Checks at each call of a JitFunction, before it runs: for `hash_args` and `input_signature`. */
#ifndef PIJIT_FUNCTION_CALL_CHECKS_H
#define PIJIT_FUNCTION_CALL_CHECKS_H

#include "evaluate.h"
#include "function/dispatch.h"

typedef struct {
    PyObject *before;   /* owned; called without arguments, returns whether entries were dropped; may be NULL */
    PyObject *accepted; /* owned; an entry cache: calls that it serves need no check; NULL if `check` is */
    PyObject *check;    /* owned; called with the arguments of other calls, a tuple and a dict; may be NULL */
    const GuardsAPI *guards;
} Watch;

/* 0 if a call may run, or -1 with an exception set. */
int watch_call(const Watch *watch, Pace *pace, PyFunctionObject *function, const Arguments *arguments);

/* The implementation of `JitFunction.watch`: 0, or -1 with an exception set. Each argument may be None. */
int watch_set(Watch *watch, PyObject *before, PyObject *accepted, PyObject *check);

#endif
