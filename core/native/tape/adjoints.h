/* Contributions to adjoints. */
#ifndef PIJIT_TAPE_ADJOINTS_H
#define PIJIT_TAPE_ADJOINTS_H

#include "tape/tape.h"

/* Add to the adjoint of a value; for a container, to that of each item. None adds nothing. 0, or -1 with an exception
 * set. */
int adjoint_give(Tape *tape, PyObject *run, PyObject *x, PyObject *g);

/* `contribution`, but 0 where the adjoint `g` is 0 and the contribution is infinite or NaN. NEW reference. The rules'
 * strong_zero (core/graph/derivatives/adjoints.py) does the same for all kinds of values; NULL without an exception: it
 * has to. */
PyObject *adjoint_strong_zero(PyObject *g, PyObject *contribution);

#endif
