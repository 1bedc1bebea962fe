/* Mirror mode, for tests: the Python twin repeats evaluations of programs. Part of evaluate.c. */
#ifndef PIJIT_GUARDS_MIRROR_H
#define PIJIT_GUARDS_MIRROR_H

#include "unbound.h"
#include "walk_inl.h"

static Count mirror_disagreements = 0;

/* NEW list of the root values, UNBOUND for NULL. */
static PyObject *
roots_as_list(const Roots *roots)
{
    PyObject *list = PyList_New(roots->nvalues); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < roots->nvalues; i++) {
        PyObject *value = roots->values[i] != NULL ? roots->values[i] : unbound;
        Py_INCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

/* NEW list of `count` borrowed objects, or None if there is no array. */
static PyObject *
objects_as_list(PyObject *const *objects, Py_ssize_t count)
{
    if (objects == NULL) {
        Py_RETURN_NONE;
    }
    PyObject *list = PyList_New(count); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        Py_INCREF(objects[i]);
        PyList_SET_ITEM(list, i, objects[i]);
    }
    return list;
}

static int
program_compare(ProgramObject *self, const Roots *roots, Py_ssize_t failed, PyObject **fetched)
{
    int passed = failed == PASSED;
    PyObject *answer = NULL;                                                    /* owned */
    PyObject *values = roots_as_list(roots);                                    /* owned */
    PyObject *found = objects_as_list(passed ? fetched : NULL, self->nresults); /* owned */
    if (values != NULL && found != NULL) {
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
    mirror_disagreements++;
    for (Py_ssize_t i = 0; passed && fetched != NULL && i < self->nresults; i++) {
        Py_CLEAR(fetched[i]);
    }
    return -1;
}

static PyObject *
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

static PyObject *
module_mirror_disagreements(PyObject *module, PyObject *unused)
{
    return PyLong_FromUnsignedLongLong(mirror_disagreements);
}

#endif
