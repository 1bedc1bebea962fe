/* Recording of operations on the one tape of a thread. */
#ifndef PIJIT_TAPE_RECORDING_H
#define PIJIT_TAPE_RECORDING_H

#include "tape/rule.h"
#include "tape/tape.h"

/* The tapes that record in this thread. */
typedef struct {
    Py_ssize_t count;
    Tape *only; /* owned: the tape if there is one; else NULL */
} Recording;

extern __thread Recording recording;

/* Function of the module: set_tapes(list). */
PyObject *recording_set_tapes(PyObject *module, PyObject *tapes);

/* Bit i: operand i is active. -1 with an exception set. */
int recording_marks(Tape *tape, PyObject *const *operands, Py_ssize_t count);

/* An operation that was made: its rule and operands, all borrowed. */
typedef struct {
    Rule *rule;
    PyObject *const *operands; /* plain values, and settings such as an axis */
    Py_ssize_t count;
    PyObject *names; /* a tuple of the names of the last operands; NULL: none */
    unsigned marks;  /* bit i: operand i is active */
} Operation;

/* Record the result of an operation. The result is taken over: it is returned, or NULL with an exception set. A result
 * that cannot carry an adjoint, or is active already, needs no record. */
PyObject *recording_result(Tape *tape, const Operation *operation, PyObject *result);

/* Record that `result` is a copy of elements, of which `part` is a view. As recording_result. */
PyObject *recording_copy(Tape *tape, PyObject *result, PyArrayObject *part);

/* A store whose target was not written yet. `part`: the elements to store into, as a view of their own, taken over.
 * `rule`: what computes the values from the operands; NULL: the operand itself is stored. 1; 0 if only Python can record
 * it; -1 with an exception set. */
int recording_store_begin(Tape *tape, Rule *rule, PyArrayObject *part, PyObject *const *operands, Py_ssize_t count,
                          Record *record);

/* Record the store once it was made (made != 0), or drop it: 0, or -1 with an exception set. */
int recording_store_end(Tape *tape, Record *record, int made);

#endif
