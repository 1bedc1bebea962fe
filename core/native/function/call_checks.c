/* Checks at each call of a JitFunction, before it runs: for `hash_args` and `input_signature`. */
#include "function/call_checks.h"
#include "function/call_checks_inl.h"
#include "capsule_inl.h"
#include "evaluate.h"
#include "function/dispatch.h"

/* The arguments of a call as `check` takes them: a NEW reference to a tuple of a tuple and a dict, or NULL. */
static PyObject *
watch_arguments(const Arguments *arguments)
{
    PyObject *args = PyTuple_New(arguments->npositional), *kwargs = PyDict_New(), *both = NULL; /* owned */
    if (args == NULL || kwargs == NULL) {
        goto error;
    }
    for (Py_ssize_t i = 0; i < arguments->npositional; i++) {
        Py_INCREF(arguments->positional[i]);
        PyTuple_SET_ITEM(args, i, arguments->positional[i]);
    }
    for (Py_ssize_t i = 0; i < arguments->nkeywords; i++) {
        if (PyDict_SetItem(kwargs, arguments->names[i], arguments->values[i]) < 0) {
            goto error;
        }
    }
    both = PyTuple_Pack(2, args, kwargs);
error:
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    return both;
}

int
watch_call(const Watch *watch, Pace *pace, PyFunctionObject *function, const Arguments *arguments)
{
    if (watch->before != NULL) {
        PyObject *before = watch->before; /* owned: the call may replace it */
        Py_INCREF(before);
        PyObject *forgotten = PyObject_CallObject(before, NULL); /* owned */
        Py_DECREF(before);
        if (forgotten == NULL) {
            return -1;
        }
        if (forgotten == Py_True) {
            *pace = (Pace){0, 0, 0};
        }
        Py_DECREF(forgotten);
    }
    if (watch->check == NULL || dispatch_accepted(watch->guards, watch->accepted, function, arguments)) {
        return 0;
    }
    PyObject *check = watch->check;                               /* owned: the call may replace it */
    PyObject *given = watch_arguments(arguments), *passed = NULL; /* owned */
    Py_INCREF(check);
    if (given != NULL) {
        passed = PyObject_CallObject(check, given);
    }
    Py_XDECREF(given);
    Py_DECREF(check);
    Py_XDECREF(passed);
    return passed != NULL ? 0 : -1;
}

int
watch_set(Watch *watch, PyObject *before, PyObject *accepted, PyObject *check)
{
    if ((accepted == Py_None) != (check == Py_None)) {
        PyErr_SetString(PyExc_TypeError, "accepted and check are given together");
        return -1;
    }
    if (watch->guards == NULL
        && (watch->guards = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION)) == NULL) {
        return -1;
    }
    if (accepted != Py_None && !watch->guards->is_cache(accepted)) {
        PyErr_Format(PyExc_TypeError, "accepted must be an EntryCache, not %.200s", Py_TYPE(accepted)->tp_name);
        return -1;
    }
    PyObject *given[] = {before, accepted, check};
    PyObject **kept[] = {&watch->before, &watch->accepted, &watch->check};
    for (int i = 0; i < 3; i++) {
        if (given[i] != Py_None) {
            Py_INCREF(given[i]);
        }
        Py_XSETREF(*kept[i], given[i] != Py_None ? given[i] : NULL);
    }
    return 0;
}
