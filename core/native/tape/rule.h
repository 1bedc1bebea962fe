/* Rule: the derivative of a function, as the tape calls it. */
#ifndef PIJIT_TAPE_RULE_H
#define PIJIT_TAPE_RULE_H

#include "numpy_api.h"

/* The largest number of operands that get adjoints. Python has it as pijit.core._tape.MOST_OPERANDS. */
#define MOST_OPERANDS 4

/* An elementwise function has partials alone, a function over whole arrays has a vjp. A function with neither has a
 * derivative that is zero everywhere. */
typedef struct {
    PyObject_HEAD
    PyObject *function; /* owned: what the program calls */
    PyObject *partials; /* owned: a tuple of functions of (g, r, *operands), each for one adjoint; may be empty */
    PyObject *vjp;      /* owned: a function of (g, r, *operands) for a tuple of adjoints; NULL: none */
    int operands;       /* the number of leading operands that get adjoints */
    char singular;      /* where g is 0, the contribution of a partial is 0 */
    char holomorphic;   /* the partials get the conjugates of complex operands */
} Rule;

extern PyTypeObject Rule_Type;

#endif
