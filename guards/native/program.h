/* Guard programs: the type Program, its construction from checked tuples, and one evaluation.
 *
 * A program is a list of steps over registers. A fetch step reads a root or a register and fills
 * the next register. A check step tests one or two registers. Borrowed registers come first (locals and constants,
 * alive as long as the caller's array and the program). Owned registers follow and are filled in ascending order, so
 * one loop releases them after a failure in the middle. Python (guards/program.py) orders the steps. program_new
 * checks that no step reads a register before it is filled or gives a check an object of the wrong kind. So no tuple
 * from Python can make an evaluation crash.
 *
 * Types, functions, code and other objects that are compared by identity are held weakly if possible
 * (guards/held.py). A program is dead, and never holds again, once one of them is gone. It is also dead once it was
 * retired, because its payload no longer fits.
 *
 * A Program has all its references from construction on and never changes them. A reference cycle through it also
 * contains an object that was changed later and that can be cleared. So, like a tuple, it has no tp_clear: all guards
 * of a cleared program would hold. */
#ifndef PIJIT_GUARDS_PROGRAM_H
#define PIJIT_GUARDS_PROGRAM_H

#include "checks/local_checks.h"
#include "roots.h"

enum {
#define OPERATION(name, reads, object) name,
#include "operations.inc"
    OPERATION_COUNT,
    LAST_BORROWED = FETCH_CONSTANT,
    LAST_FETCH = FETCH_INNER
};

typedef enum { NO_OBJECT, ANY_OBJECT, A_TYPE, A_REFERENCE, A_DTYPE, A_NAME, A_KEY } ObjectRule;

/* An operation of operations.inc: its name for Python, the number of registers that it reads, the rule for its object. */
typedef struct {
    const char *name;
    int reads;
    ObjectRule object;
} GuardOperation;

extern const GuardOperation operation_table[OPERATION_COUNT];

typedef struct {
    int operation;
    int mask, flags;   /* CHECK_ARRAY: (array flags & mask) == flags; CHECK_SAME_AXIS: mask is the second axis */
    Py_ssize_t guard;  /* index of the guard it serves, -1 for a fetch that serves only the caller */
    Py_ssize_t out;    /* register that a fetch fills */
    Py_ssize_t a, b;   /* registers that it reads */
    Py_ssize_t number; /* root index, position, length, axis, ndim or count */
    PyObject *object;  /* owned: name, key, type, dtype, constant or weak reference; NULL if it has none */
} Step;

typedef unsigned long long Count;

typedef struct {
    PyObject_HEAD
    PyObject *guards; /* owned: tuple of Guard, in the given order */
    PyObject *fetch;  /* owned: tuple of Source */
    Step *steps;      /* owned, with the objects in it */
    Py_ssize_t nsteps;
    Py_ssize_t *results; /* owned: the register of each fetch source */
    Py_ssize_t nresults;
    Py_ssize_t nborrowed, nregisters;
    Count *failures;        /* owned: per guard */
    Py_ssize_t last_failed; /* index of the guard that failed last, or -1 */
    Count hits, misses;
    LocalChecks *local_checks; /* owned, or NULL: the program looks at more than the types and layouts of roots */
    char scoped;               /* whether a step looks in the globals or builtins */
    char retired;              /* whether retire() was called */
} ProgramObject;

extern PyTypeObject ProgramType;

/* Whether the guards never hold again: retire() was called, or an object that a guard compares with is gone. */
int program_is_dead(const ProgramObject *self);

/* Whether `ask` returns true for a code object that a guard of the program compares with. */
int program_has_code(const ProgramObject *self, int (*ask)(PyCodeObject *code));

/* local_checks.c: make the table of a program whose steps and results are filled, if it has one; 0, or -1 with an
 * exception set. */
int local_checks_make(ProgramObject *program);
void local_checks_free(LocalChecks *self);

/* walk.c: 1: passed, `fetched` is filled with NEW references (unless it is NULL); 0: a guard failed; -1 with an exception
 * set, only in mirror mode or out of memory. */
int program_evaluate(ProgramObject *self, const Roots *roots, PyObject **fetched);

#endif
