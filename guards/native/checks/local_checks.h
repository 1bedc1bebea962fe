/* Local checks: a guard program that looks at nothing but the types and layouts of roots, as a flat table.
 *
 * Most programs of segments are of this kind. Their clients evaluate the table themselves (local_checks_inl.h), without
 * registers. If the checks fail, the client evaluates the program, which counts the failure. */
#ifndef PIJIT_GUARDS_LOCAL_CHECKS_H
#define PIJIT_GUARDS_LOCAL_CHECKS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    PyObject *object;      /* borrowed from the program: the dtype, the type, or the weak reference to the type */
    Py_ssize_t root;       /* index in the roots */
    int is_array, is_weak; /* what the object is; both are 0 for a type */
    int ndim, mask, flags; /* of an array: (array flags & mask) == flags */
} LocalCheck;

/* Lives as long as the program. */
typedef struct {
    LocalCheck *checks; /* owned */
    Py_ssize_t nchecks;
    Py_ssize_t *results; /* owned: the root of each fetch source */
    Py_ssize_t nresults;
    Py_ssize_t nroots;        /* number of roots that an evaluation needs */
    const int *needs_program; /* nonzero while evaluations must go through the program, for tests */
    const char *retired;      /* the program's flag */
    unsigned long long *hits; /* the program's counter, which each successful evaluation advances */
} LocalChecks;

#endif
