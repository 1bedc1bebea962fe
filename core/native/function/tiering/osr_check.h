/* OSR checks, on all versions: what linked code asks at a loop's header, to continue in newer code if there is any.
 *
 * An OSR check is an iterator, because a step of an iterator is the cheapest call in bytecode. The 2nd, 4th, 8th ...
 * visit of the header gets an item; from LONGEST_STRIDE on, every LONGEST_STRIDE-th visit does. Then linked code calls
 * the OSR check. hook/osr.c and hidden/osr.c answer. */
#ifndef PIJIT_FUNCTION_TIERING_OSR_CHECK_H
#define PIJIT_FUNCTION_TIERING_OSR_CHECK_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define MAX_MOVES 3 /* of one run */

typedef struct {
    PyObject_HEAD
    PyObject *ask;           /* owned */
    Py_ssize_t slot;         /* up to CPython 3.10: the local that takes the operand stack */
    Py_ssize_t visits, next; /* the count so far; the count at which to ask next */
} OsrCheck;

extern PyTypeObject OsrCheck_Type;

/* An OSR check with a callable `ask`: NEW, or NULL with an exception set. */
PyObject *osr_check_new(PyObject *ask, Py_ssize_t slot);

/* The call of an OSR check: a Move or None, NEW; NULL with an exception that `ask` has raised. */
PyObject *osr_check_call(OsrCheck *self, PyObject *args, PyObject *Py_UNUSED(kwargs));

#endif
