/* Evaluation of local checks (local_checks.h). */
#ifndef PIJIT_GUARDS_LOCAL_CHECKS_INL_H
#define PIJIT_GUARDS_LOCAL_CHECKS_INL_H

#include "checks/array_check_inl.h"
#include "checks/local_checks.h"

static inline int
local_check_holds(const LocalCheck *check, PyObject *value)
{
    if (check->is_array) {
        return array_matches(value, check->object, check->ndim, check->mask, check->flags);
    }
    PyObject *type = check->is_weak ? ((PyWeakReference *)check->object)->wr_object : check->object; /* borrowed */
    return (PyObject *)Py_TYPE(value) == type;
}

/* Whether all checks hold; then fetched[i] is a BORROWED reference, as in `values`, for each fetch source. */
static inline int
local_checks_match(const LocalChecks *self, PyObject *const *values, Py_ssize_t nvalues, PyObject **fetched)
{
    if (nvalues < self->nroots) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < self->nchecks; i++) {
        PyObject *value = values[self->checks[i].root]; /* borrowed */
        if (value == NULL || !local_check_holds(&self->checks[i], value)) {
            return 0;
        }
    }
    for (Py_ssize_t i = 0; i < self->nresults; i++) {
        fetched[i] = values[self->results[i]];
        if (fetched[i] == NULL) {
            return 0;
        }
    }
    return 1;
}

/* As local_checks_match, for one counted evaluation, with NEW references. 0 leaves the answer to the program. */
static inline int
local_checks_hold(const LocalChecks *self, PyObject *const *values, Py_ssize_t nvalues, PyObject **fetched)
{
    if (*self->retired || *self->needs_program || !local_checks_match(self, values, nvalues, fetched)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < self->nresults; i++) {
        Py_INCREF(fetched[i]);
    }
    (*self->hits)++;
    return 1;
}

#endif
