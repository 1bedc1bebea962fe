/* Python's iterators as frame words.
 *
 * The structs are those of CPython 3.7 to 3.13, which no header declares. iterators_check() must compare them with real
 * iterators before any other function is used. */
#ifndef PIJIT_LAUNCHER_ITERATORS_H
#define PIJIT_LAUNCHER_ITERATORS_H

#include "launcher/codes/codes.h"

/* Read the words of an iterator; 0 if it does not match the code, or has ended. */
int iterator_load(const Input *input, PyObject *object, int64_t *words);

/* Set the words of an iterator that change; returns the word after them. */
const int64_t *iterator_move(const Input *input, PyObject *object, const int64_t *words);

/* Each of the following returns a NEW reference, or NULL with an exception set. */

PyObject *range_build(const int64_t *words);

PyObject *range_iterator_build(const int64_t *words);

/* The iterator that iter() or reversed() makes for a sequence, set to an index. */
PyObject *sequence_iterator_build(PyObject *sequence, int kind, int64_t index);

/* An iterator over a dict or a view of it, set to a position. */
PyObject *dict_iterator_build(PyObject *dict, int kind, const int64_t *words);

/* An iterator over a set, set to a position. */
PyObject *set_iterator_build(PyObject *set, const int64_t *words);

/* An iterator from iter() or reversed() of an object, or from iter() of a view of a dict, after `steps` steps. */
PyObject *stepped_build(PyObject *object, int kind, Py_ssize_t steps);

/* iterators_check.c: 0, or -1 with an exception set if this interpreter's iterators do not match the structs. */
int iterators_check(void);

#endif
