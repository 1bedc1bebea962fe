/* Answers of launchers: tuples of an exit number, padding and values, or the only value of an exit.
 *
 * A launcher that may answer with a value makes tuples of a type of its own. Linked code tells the two apart by
 * MATCH_MAPPING (CPython 3.10), which is a test of a type's flag. */
#ifndef PIJIT_LAUNCHER_ANSWERS_H
#define PIJIT_LAUNCHER_ANSWERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* A subclass of tuple that says it is a mapping. */
extern PyTypeObject answer_type;

/* Readies the type; 0, or -1 with an exception set. */
int answers_ready(void);

/* A new tuple without items, of the launcher's kind; NULL with an exception set. */
PyObject *answer_new(int is_bare, Py_ssize_t size);

/* The answer MISS: a new reference, or NULL with an exception set. */
PyObject *miss_build(int is_bare, Py_ssize_t width);

#endif
