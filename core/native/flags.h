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

#define ALL_LISTENED (NPY_FPE_DIVIDEBYZERO | NPY_FPE_OVERFLOW | NPY_FPE_UNDERFLOW | NPY_FPE_INVALID)

/* What np.geterr says; all of them if that cannot be found out. */
static int
ask_geterr(void)
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
    return ALL_LISTENED;
}

/* The context variable in which NumPy 2 keeps the state, or Py_None: the state is in the thread's dict. */
static PyObject *
errstate_variable(void)
{
    static PyObject *variable = NULL;  /* owned, for ever */
    if (variable == NULL) {
        PyObject *umath = PyImport_ImportModule("numpy._core.umath");  /* owned */
        variable = umath == NULL ? NULL : PyObject_GetAttrString(umath, "_extobj_contextvar");
        Py_XDECREF(umath);
        if (variable == NULL) {
            PyErr_Clear();
            Py_INCREF(Py_None);
            variable = Py_None;
        }
    }
    return variable;
}

/* The object that holds the state where it is not NumPy's default, else None; a new reference, NULL if unknown. */
static PyObject *
errstate_object(void)
{
    PyObject *variable = errstate_variable(), *state = NULL;
    if (variable == Py_None) {
        PyObject *known = PyThreadState_GetDict();  /* borrowed */
        state = known == NULL ? NULL : PyDict_GetItemString(known, "UFUNC_PYVALS");  /* borrowed */
        state = known != NULL && state == NULL ? Py_None : state;
        Py_XINCREF(state);
    }
#if PY_VERSION_HEX >= 0x03080000
    else if (PyContextVar_Get(variable, Py_None, &state) != 0) {
        PyErr_Clear();
        return NULL;
    }
#endif
    return state;
}

/* The flags that np.errstate does not ignore. np.geterr takes as long as ten thousand elements, and states seldom change:
 * NumPy 2 makes an object for each that never changes; what NumPy 1 keeps is a list, which may. */
static int
flags_listened(void)
{
    static PyObject *last = NULL;    /* owned; its state is `listened` */
    static int listened = ALL_LISTENED;
    PyObject *state = errstate_object();  /* owned */
    if (state == NULL || PyList_Check(state)) {
        Py_XDECREF(state);
        return ask_geterr();
    }
    if (state != last) {
        listened = ask_geterr();
        Py_XSETREF(last, state);
        return listened;
    }
    Py_DECREF(state);
    return listened;
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
