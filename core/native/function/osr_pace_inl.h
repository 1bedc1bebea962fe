/* The pace of OSR checks: which visits of a loop's header ask for newer linked code.
 *
 * The 2nd, 4th, 8th ... visit asks; from LONGEST_STRIDE on, every LONGEST_STRIDE-th visit does. */
#ifndef PIJIT_CORE_OSR_PACE_INL_H
#define PIJIT_CORE_OSR_PACE_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define MAX_MOVES 3 /* of one run */
#define LONGEST_STRIDE 4096

typedef struct {
    Py_ssize_t visits, next; /* the count so far; the count at which to ask next */
} OsrPace;

static inline void
osr_pace_init(OsrPace *pace)
{
    pace->visits = 0;
    pace->next = 2;
}

/* Count a visit: whether it asks. */
static inline int
osr_pace_asks(OsrPace *pace)
{
    if (++pace->visits < pace->next) {
        return 0;
    }
    pace->next = pace->visits + (pace->visits < LONGEST_STRIDE ? pace->visits : LONGEST_STRIDE);
    return 1;
}

#endif
