/* Floating-point exception flags: kernels clear them before array operations and test them afterwards. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/ufuncs/error_state.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include <fenv.h>
#include <numpy/ufuncobject.h>

int64_t
runtime_flags_clear(void)
{
    /* Clearing loads the x87 environment, which costs ten times as much as reading the flags. */
    if (whole_status() != 0) {
        feclearexcept(REPORTED_FLAGS);
    }
    return 0;
}

int64_t
runtime_own_flags_clear(void)
{
    if (own_status() != 0) {
        own_status_lower();
    }
    return 0;
}

#define ALL_LISTENED (NPY_FPE_DIVIDEBYZERO | NPY_FPE_OVERFLOW | NPY_FPE_UNDERFLOW | NPY_FPE_INVALID)

/* The flags that np.geterr reports as not ignored; all flags if that fails. np.geterr itself is a Python function, in
 * which a signal handler could run and raise. So this calls the C functions that np.geterr calls. */
static int
ask_numpy(void)
{
    static const struct {
        const char *name;
        int flag, shift;
    } kinds[] = {{"divide", NPY_FPE_DIVIDEBYZERO, 0},
                 {"over", NPY_FPE_OVERFLOW, 3},
                 {"under", NPY_FPE_UNDERFLOW, 6},
                 {"invalid", NPY_FPE_INVALID, 9}};
    PyObject *ask = error_state.variable != NULL ? error_state.describe : error_state.get; /* borrowed */
    PyObject *state = ask != NULL ? PyObject_CallObject(ask, NULL) : NULL;                 /* owned */
    PyObject *mask = state != NULL && PyList_Check(state) && PyList_GET_SIZE(state) == 3 ? PyList_GET_ITEM(state, 1)
                                                                                         : NULL; /* borrowed */
    int listened = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (mask != NULL && PyLong_Check(mask)) {
            listened |= (PyLong_AsLong(mask) >> kinds[i].shift & ERROR_KIND) != 0 ? kinds[i].flag : 0;
            continue;
        }
        /* borrowed */
        PyObject *how = state != NULL && PyDict_Check(state) ? PyDict_GetItemString(state, kinds[i].name) : NULL;
        if (how == NULL || !PyUnicode_Check(how) || PyUnicode_CompareWithASCIIString(how, "ignore") != 0) {
            listened |= kinds[i].flag;
        }
    }
    PyErr_Clear();
    Py_XDECREF(state);
    return listened;
}

/* The flags that np.errstate does not ignore. NumPy 2 makes one immutable object per state, so the answer for the last
 * object is cached. */
static int
flags_listened(void)
{
    static PyObject *last = NULL; /* owned; its state is `listened` */
    static int listened = ALL_LISTENED;
    PyObject *state = NULL; /* owned */
    if (error_state.variable == NULL || PyContextVar_Get(error_state.variable, Py_None, &state) < 0) {
        return ask_numpy();
    }
    if (state != last) {
        listened = ask_numpy();
        Py_XSETREF(last, state);
        return listened;
    }
    Py_DECREF(state);
    return listened;
}

/* The flags of a mask that np.errstate does not ignore. */
int64_t
runtime_flags_listened(int64_t mask)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    int64_t listened = (flags_listened() | mask >> ALWAYS_CHECKED_SHIFT) & mask & ALL_LISTENED;
    PyGILState_Release(gil);
    return listened;
}

/* The raised flags of a mask, as NumPy's constants, that np.errstate does not ignore. */
static int64_t
flags_reported(int raised, int64_t mask)
{
    int flags = (raised & FE_DIVBYZERO ? NPY_FPE_DIVIDEBYZERO : 0) | (raised & FE_OVERFLOW ? NPY_FPE_OVERFLOW : 0)
                | (raised & FE_UNDERFLOW ? NPY_FPE_UNDERFLOW : 0) | (raised & FE_INVALID ? NPY_FPE_INVALID : 0);
    flags &= (int)mask;
    return flags != 0 ? runtime_flags_listened(flags | (mask & ~(int64_t)ALL_LISTENED)) : 0;
}

int64_t
runtime_flags_test(int64_t mask)
{
    int raised = whole_status();
    return raised != 0 ? flags_reported(raised, mask) : 0;
}

int64_t
runtime_own_flags_test(int64_t mask)
{
    int raised = own_status();
    return raised != 0 ? flags_reported(raised, mask) : 0;
}
