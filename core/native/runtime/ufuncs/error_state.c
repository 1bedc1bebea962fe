/* NumPy's error state during a library call: errors that would be warnings are raised.
 *
 * The kernel then leaves, and bytecode reports the warning at its line. Ignored errors stay ignored.
 *
 * NumPy 1.x keeps the state in an object that geterrobj and seterrobj exchange. NumPy 2 keeps it in a context variable. */
#include "runtime/ufuncs/error_state.h"
#include "launcher/abi.h"

ErrorFunctions error_state;

int
errors_find(void)
{
    PyObject *numpy = PyImport_ImportModule("numpy"); /* owned */
    if (numpy == NULL) {
        return -1;
    }
    error_state.get = PyObject_GetAttrString(numpy, "geterrobj");
    if (error_state.get != NULL) {
        error_state.set = PyObject_GetAttrString(numpy, "seterrobj");
        Py_DECREF(numpy);
        return error_state.set != NULL ? 0 : -1;
    }
    Py_DECREF(numpy);
    if (!PyErr_ExceptionMatches(PyExc_AttributeError)) {
        return -1;
    }
    PyErr_Clear();
    PyObject *umath = PyImport_ImportModule("numpy._core.umath"); /* owned */
    if (umath == NULL) {
        return -1;
    }
    error_state.make = PyObject_GetAttrString(umath, "_make_extobj");
    error_state.describe = PyObject_GetAttrString(umath, "_get_extobj_dict");
    error_state.variable = PyObject_GetAttrString(umath, "_extobj_contextvar");
    Py_DECREF(umath);
    return error_state.make != NULL && error_state.describe != NULL && error_state.variable != NULL ? 0 : -1;
}

/* The current state of the context variable, with "raise" for all errors that are not ignored. Returns a NEW reference,
 * or NULL with an exception set. */
static PyObject *
extobj_strict(void)
{
    static const char *const names[] = {"divide", "over", "under", "invalid"};
    PyObject *state = PyObject_CallObject(error_state.describe, NULL); /* owned */
    PyObject *wanted = PyDict_New(), *none = PyTuple_New(0);           /* owned */
    PyObject *made = NULL;                                             /* the result */
    int status = state == NULL || wanted == NULL || none == NULL || !PyDict_Check(state) ? -1 : 0;
    for (size_t i = 0; status == 0 && i < sizeof(names) / sizeof(names[0]); i++) {
        PyObject *how = PyDict_GetItemString(state, names[i]); /* borrowed */
        int ignored = how != NULL && PyUnicode_Check(how) && PyUnicode_CompareWithASCIIString(how, "ignore") == 0;
        PyObject *text = PyUnicode_FromString(ignored ? "ignore" : "raise"); /* owned */
        status = text == NULL ? -1 : PyDict_SetItemString(wanted, names[i], text);
        Py_XDECREF(text);
    }
    if (status == 0) {
        made = PyObject_Call(error_state.make, none, wanted);
    }
    Py_XDECREF(state);
    Py_XDECREF(wanted);
    Py_XDECREF(none);
    return made;
}

static int
extobj_raise(ErrorState *saved)
{
    PyObject *now = NULL; /* owned, moved to `source` */
    if (PyContextVar_Get(error_state.variable, NULL, &now) < 0) {
        return -1;
    }
    if (now != error_state.source) {
        PyObject *strict = extobj_strict(); /* moved to `strict` */
        if (strict == NULL) {
            Py_DECREF(now);
            return -1;
        }
        Py_XSETREF(error_state.strict, strict);
        Py_INCREF(now);
        Py_XSETREF(error_state.source, now);
    }
    Py_DECREF(now);
    saved->old = PyContextVar_Set(error_state.variable, error_state.strict);
    return saved->old == NULL ? -1 : 0;
}

/* The error mask of NumPy 1.x, three bits per kind: 0 is "ignore", 2 is "raise". */
static long
mask_strict(long mask)
{
    long strict = 0;
    for (int shift = 0; shift < 12; shift += 3) {
        strict |= (mask >> shift & ERROR_KIND) != 0 ? 2L << shift : 0;
    }
    return strict;
}

static int
errobj_raise(ErrorState *saved)
{
    PyObject *old = PyObject_CallObject(error_state.get, NULL); /* owned, moved to saved */
    if (old == NULL || !PyList_Check(old) || PyList_GET_SIZE(old) != 3) {
        Py_XDECREF(old);
        return -1;
    }
    long mask = PyLong_AsLong(PyList_GET_ITEM(old, 1)), strict = mask_strict(mask);
    if (strict == mask) {
        Py_DECREF(old);
        return 0;
    }
    PyObject *state = Py_BuildValue("[OlO]", PyList_GET_ITEM(old, 0), strict, PyList_GET_ITEM(old, 2)); /* owned */
    PyObject *done = state == NULL ? NULL : PyObject_CallFunctionObjArgs(error_state.set, state, NULL); /* owned */
    Py_XDECREF(state);
    if (done == NULL) {
        Py_DECREF(old);
        return -1;
    }
    Py_DECREF(done);
    saved->old = old;
    return 0;
}

int
errors_raise(ErrorState *saved)
{
    return error_state.variable != NULL ? extobj_raise(saved) : errobj_raise(saved);
}

void
errors_restore(ErrorState *saved)
{
    PyObject *type, *value, *traceback; /* owned, given back */
    if (saved->old == NULL) {
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    if (error_state.variable != NULL) {
        PyContextVar_Reset(error_state.variable, saved->old);
    }
    else {
        Py_XDECREF(PyObject_CallFunctionObjArgs(error_state.set, saved->old, NULL));
    }
    Py_CLEAR(saved->old);
    PyErr_Restore(type, value, traceback);
}
