/* Binding of arguments to the slots of a call, on all versions.
 *
 * `varnames` are the names of the code object's locals. */
#ifndef PIJIT_FUNCTION_BIND_ARGUMENTS_INL_H
#define PIJIT_FUNCTION_BIND_ARGUMENTS_INL_H

#include "function/dispatch.h"

static inline Py_ssize_t
positional_only(const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x03080000
    return code->co_posonlyargcount;
#else
    return 0;
#endif
}

/* The slot of the parameter that a keyword names; -1 if there is none. */
static Py_ssize_t
keyword_slot(const PyCodeObject *code, PyObject *varnames, PyObject *name)
{
    Py_ssize_t count = code->co_argcount + code->co_kwonlyargcount;
    for (Py_ssize_t i = positional_only(code); i < count; i++) {
        if (PyTuple_GET_ITEM(varnames, i) == name) {
            return i;
        }
    }
    for (Py_ssize_t i = positional_only(code); PyUnicode_CheckExact(name) && i < count; i++) {
        if (PyUnicode_Compare(PyTuple_GET_ITEM(varnames, i), name) == 0) {
            return i;
        }
    }
    return -1;
}

static inline void
slot_fill(PyObject **slots, Py_ssize_t index, PyObject *value)
{
    Py_INCREF(value);
    slots[index] = value;
}

/* Give parameters without an argument their defaults. Whether all parameters have a value then. */
static int
defaults_bind(const PyFunctionObject *function, const PyCodeObject *code, PyObject *varnames, PyObject **slots)
{
    PyObject *defaults = function->func_defaults, *keyword = function->func_kwdefaults; /* borrowed */
    Py_ssize_t count = defaults != NULL ? PyTuple_GET_SIZE(defaults) : 0;
    for (Py_ssize_t i = 0; i < code->co_argcount + code->co_kwonlyargcount; i++) {
        if (slots[i] != NULL) {
            continue;
        }
        PyObject *value = NULL; /* borrowed */
        if (i < code->co_argcount) {
            Py_ssize_t number = i - (code->co_argcount - count);
            value = number >= 0 && number < count ? PyTuple_GET_ITEM(defaults, number) : NULL;
        }
        else if (keyword != NULL && PyDict_CheckExact(keyword)) {
            value = PyDict_GetItem(keyword, PyTuple_GET_ITEM(varnames, i));
        }
        if (value == NULL) {
            return 0;
        }
        slot_fill(slots, i, value);
    }
    return 1;
}

#endif
