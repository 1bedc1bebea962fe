/* Records of running hidden functions. */
#ifndef PIJIT_HIDDEN_RUN_RECORDS_H
#define PIJIT_HIDDEN_RUN_RECORDS_H

#include "function/dispatch.h"

PyObject *hook_arrive(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args));

/* The value that linked code returns to resume in newer linked code. Private: no program ever sees one. */
typedef struct {
    PyObject_HEAD
    PyCodeObject *code; /* owned; it fits the original */
    PyObject *payload;  /* owned: the values that the code takes from `arrive` */
} Move;

/* Run code that begins with `arrive`, as a function like `function`. The payload is taken over. NEW reference, or
 * NULL with an exception set. */
PyObject *record_arrive(PyFunctionObject *function, PyCodeObject *code, PyObject *payload);

#endif
