/* Comparison of an evaluation with GuardProgram.compare_with_twin, and with the local checks of the program. */
#include "mirror.h"
#include "checks/local_checks_inl.h"
#include "roots.h"

int mirror_enabled = 0;

static Count mirror_disagreements = 0;

/* Whether local checks pass and fetch as the program; 1 without local checks. */
static int
local_checks_agree(const ProgramObject *self, const Roots *roots, int passed, PyObject *const *fetched)
{
    if (self->local_checks == NULL || self->retired) {
        return 1;
    }
    PyObject **found = PyMem_Calloc((size_t)self->nresults + 1, sizeof(PyObject *)); /* owned; its items are borrowed */
    if (found == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    int agree = local_checks_match(self->local_checks, roots->values, roots->nvalues, found) == passed;
    for (Py_ssize_t i = 0; passed && agree && fetched != NULL && i < self->nresults; i++) {
        agree = found[i] == fetched[i];
    }
    PyMem_Free(found);
    if (!agree) {
        PyErr_Format(PyExc_AssertionError, "the local checks of %R disagree with the program", (PyObject *)self);
    }
    return agree;
}

int
mirror_compare(ProgramObject *self, const Roots *roots, Py_ssize_t failed, PyObject **fetched)
{
    int passed = failed == PASSED;
    PyObject *answer = NULL;                                                    /* owned */
    PyObject *values = roots_as_list(roots);                                    /* owned */
    PyObject *found = objects_as_list(passed ? fetched : NULL, self->nresults); /* owned */
    if (values != NULL && found != NULL && local_checks_agree(self, roots, passed, fetched)) {
        answer = PyObject_CallMethod(
            (PyObject *)self, "compare_with_twin", "OOOOnO", values, roots->globals != NULL ? roots->globals : Py_None,
            roots->builtins != NULL ? roots->builtins : Py_None, passed ? Py_True : Py_False, failed, found);
    }
    Py_XDECREF(values);
    Py_XDECREF(found);
    if (answer != NULL) {
        Py_DECREF(answer);
        return passed;
    }
    mirror_disagreements += PyErr_ExceptionMatches(PyExc_AssertionError); /* a signal's handler may raise here as well */
    for (Py_ssize_t i = 0; passed && fetched != NULL && i < self->nresults; i++) {
        Py_CLEAR(fetched[i]);
    }
    return -1;
}

PyObject *
module_set_mirror(PyObject *module, PyObject *flag)
{
    int enabled = PyObject_IsTrue(flag);
    if (enabled < 0) {
        return NULL;
    }
    PyObject *before = PyBool_FromLong(mirror_enabled); /* owned */
    mirror_enabled = enabled;
    return before;
}

PyObject *
module_mirror_disagreements(PyObject *module, PyObject *unused)
{
    return PyLong_FromUnsignedLongLong(mirror_disagreements);
}
