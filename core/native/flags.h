/* Floating-point exception flags: kernels clear them before array operations and ask for them afterwards.
 *
 * Part of runtime.c, apart for its size. */
#ifndef PIJIT_FLAGS_H
#define PIJIT_FLAGS_H

#include "float_status.h"
#include "launcher.h"
#include <numpy/ufuncobject.h>

static int64_t
runtime_flags_clear(void)
{
    /* Loading the x87 environment, which clearing does, costs ten times what looking costs. */
    if (whole_status() != 0) {
        feclearexcept(REPORTED_FLAGS);
    }
    return 0;
}

static int64_t
runtime_own_flags_clear(void)
{
    if (own_status() != 0) {
        own_status_lower();
    }
    return 0;
}

/* The flags that np.errstate does not ignore; all of them if that cannot be found out. */
static int
flags_listened(void)
{
    static PyObject *geterr = NULL;  /* owned, for ever */
    static const struct { const char *name; int flag; } kinds[] = {
        {"divide", NPY_FPE_DIVIDEBYZERO}, {"over", NPY_FPE_OVERFLOW}, {"under", NPY_FPE_UNDERFLOW},
        {"invalid", NPY_FPE_INVALID}};
    PyObject *numpy = NULL;          /* owned */
    PyObject *state = NULL;          /* owned */
    int listened = 0;
    if (geterr == NULL) {
        numpy = PyImport_ImportModule("numpy");
        if (numpy == NULL || (geterr = PyObject_GetAttrString(numpy, "geterr")) == NULL) {
            goto error;
        }
    }
    state = PyObject_CallObject(geterr, NULL);
    if (state == NULL || !PyDict_Check(state)) {
        goto error;
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        PyObject *how = PyDict_GetItemString(state, kinds[i].name);  /* borrowed */
        if (how == NULL || !PyUnicode_Check(how) || PyUnicode_CompareWithASCIIString(how, "ignore") != 0) {
            listened |= kinds[i].flag;
        }
    }
    Py_XDECREF(numpy);
    Py_DECREF(state);
    return listened;
error:
    PyErr_Clear();
    Py_XDECREF(numpy);
    Py_XDECREF(state);
    return NPY_FPE_DIVIDEBYZERO | NPY_FPE_OVERFLOW | NPY_FPE_UNDERFLOW | NPY_FPE_INVALID;
}

/* The flags of a mask that np.errstate does not ignore. */
static int64_t
runtime_flags_listened(int64_t mask)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int64_t listened = flags_listened() & mask;
    PyGILState_Release(gil);
    return listened;
}

/* NumPy's numbers of raised flags of a mask that np.errstate does not ignore. */
static int64_t
flags_reported(int raised, int64_t mask)
{
    int flags = (raised & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0) | (raised & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0)
                | (raised & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0) | (raised & FE_INVALID ? NPY_FPE_INVALID : 0);
    flags &= (int)mask;
    return flags != 0 ? runtime_flags_listened(flags) : 0;
}

static int64_t
runtime_flags_test(int64_t mask)
{
    int raised = whole_status();
    return raised != 0 ? flags_reported(raised, mask) : 0;
}

static int64_t
runtime_own_flags_test(int64_t mask)
{
    int raised = own_status();
    return raised != 0 ? flags_reported(raised, mask) : 0;
}

#endif
