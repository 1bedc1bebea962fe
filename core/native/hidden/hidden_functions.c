/* Hidden functions: made, found again and pooled. */
#include "hidden/hidden_functions.h"
#include "function/dispatch.h"
#include "hidden/hidden.h"
#include "hidden/make_function_inl.h"

/* The number of hidden functions that a JitFunction keeps. */
#define MOST_HIDDEN 4

int
hidden_refresh(PyFunctionObject *hidden, PyFunctionObject *function)
{
    PyObject *defaults = function->func_defaults, *keyword = function->func_kwdefaults; /* borrowed */
    if (hidden->func_defaults != defaults
        && PyFunction_SetDefaults((PyObject *)hidden, defaults != NULL ? defaults : Py_None) < 0) {
        return -1;
    }
    if (hidden->func_kwdefaults != keyword
        && PyFunction_SetKwDefaults((PyObject *)hidden, keyword != NULL ? keyword : Py_None) < 0) {
        return -1;
    }
    return 0;
}

PyFunctionObject *
hidden_find(PyObject **kept, PyFunctionObject *function, PyCodeObject *linked)
{
    Py_ssize_t count = *kept != NULL ? PyList_GET_SIZE(*kept) : 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyFunctionObject *hidden = (PyFunctionObject *)PyList_GET_ITEM(*kept, i); /* borrowed */
        if (hidden->func_code == (PyObject *)linked) {
            Py_INCREF(hidden);
            return hidden;
        }
    }
    PyFunctionObject *hidden = hidden_make(function, linked); /* owned, given away */
    if (hidden == NULL || (*kept == NULL && (*kept = PyList_New(0)) == NULL)) {
        Py_CLEAR(hidden);
        return NULL;
    }
    PyObject *list = *kept; /* owned: finalizers of a dropped function may clear *kept */
    Py_INCREF(list);
    if ((count >= MOST_HIDDEN && PyList_SetSlice(list, 0, 1, NULL) < 0) || PyList_Append(list, (PyObject *)hidden) < 0) {
        Py_CLEAR(hidden);
    }
    Py_DECREF(list);
    return hidden;
}

/* ---- Calls of functions that have no JitFunction ---------------------------------------------------------
 *
 * An Entrance keeps one hidden function for them in a pool. A pooled function has only its code: the Entrance belongs
 * to code objects, which the collector does not see, so it must not refer to other objects. The collector does not
 * track a pooled function either. */

/* Give a pooled hidden function the attributes of a function, except its defaults. */
static void
hidden_fill(PyFunctionObject *hidden, PyFunctionObject *function)
{
    Py_INCREF(function->func_globals);
    hidden->func_globals = function->func_globals;
    Py_INCREF(function->func_builtins);
    hidden->func_builtins = function->func_builtins;
    Py_XINCREF(function->func_module);
    hidden->func_module = function->func_module;
    Py_XINCREF(function->func_closure);
    hidden->func_closure = function->func_closure;
}

PyFunctionObject *
hidden_take(PyObject *entrance, PyFunctionObject *function, PyCodeObject *linked)
{
    PyFunctionObject **pooled = entrance != NULL ? entrance_pooled(entrance) : NULL;
    if (pooled == NULL || *pooled == NULL) {
        return hidden_make(function, linked);
    }
    PyFunctionObject *hidden = *pooled; /* moved, given away */
    *pooled = NULL;
    hidden_fill(hidden, function);
    PyObject_GC_Track((PyObject *)hidden);
    return hidden;
}

void
hidden_rest(PyFunctionObject *hidden, PyFunctionObject **pooled)
{
    if (*pooled != NULL || Py_REFCNT(hidden) > 1 || hidden->func_weakreflist != NULL || hidden->func_dict != NULL
        || hidden->func_annotations != NULL) {
        Py_DECREF(hidden);
        return;
    }
    PyObject *parts[] = {hidden->func_globals, hidden->func_builtins, hidden->func_module,
                         hidden->func_closure, hidden->func_defaults, hidden->func_kwdefaults}; /* owned */
    hidden->func_globals = hidden->func_builtins = hidden->func_module = hidden->func_closure = NULL;
    hidden->func_defaults = hidden->func_kwdefaults = NULL;
    PyObject_GC_UnTrack((PyObject *)hidden);
    *pooled = hidden;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        Py_XDECREF(parts[i]);
    }
}

void
hidden_end(PyFunctionObject *pooled)
{
    if (pooled != NULL) {
        PyObject_GC_Track((PyObject *)pooled); /* the deallocator of functions expects it */
        Py_DECREF(pooled);
    }
}

PyObject *
hidden_arrive(PyFunctionObject *hidden)
{
    PyCodeObject *code = (PyCodeObject *)hidden->func_code; /* borrowed from the function */
    const Shape *shape = shape_of(code);
    return shape != NULL ? PyObject_Vectorcall((PyObject *)hidden, shape->nones, code->co_argcount, shape->keywords) : NULL;
}
