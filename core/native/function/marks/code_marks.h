/* Marks of code objects, on all versions: the cache and on_miss of a code object, and whether a thread uses them. */
#ifndef PIJIT_FUNCTION_MARKS_CODE_MARKS_H
#define PIJIT_FUNCTION_MARKS_CODE_MARKS_H

#include "function/dispatch.h"

/* Whether a tuple of names starts with (`exact`: equals) another. */
int names_start_with(PyObject *names, PyObject *prefix, int exact);

/* Whether `cache`, or None, and `on_miss` are valid for a mark; 0 with an exception set. */
int mark_is_valid(PyObject *cache, PyObject *on_miss);

/* Hand the current exception to the error handler and clear it. */
void error_report(PyCodeObject *code);

extern PyObject *const unbound; /* immortal: UNBOUND of the module */

/* A NEW list of a frame's locals, cells and free variables, UNBOUND for those without a value. */
PyObject *slots_list(PyObject *const *slots, Py_ssize_t count);

/* hook.c or run.c: the reason why a payload cannot run on the slots of a code object's calls, or NULL if it can. */
const char *code_why_not_linked(PyCodeObject *code, PyCodeObject *payload);

#endif
