/* Helpers that rewritten bytecode calls in place of instructions: operators, subscripts, stores and calls.
 *
 * They record the operations on plain numbers and arrays of numbers if one tape records in the thread. For all else they
 * call the helper in Python that they were made with (core/tape/operations.py, core/tape/calls.py). */
#ifndef PIJIT_TAPE_HELPERS_H
#define PIJIT_TAPE_HELPERS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

extern PyTypeObject Operator_Type, Callees_Type;

/* Functions of the module that make helpers, see core/_tape.pyi. */
PyObject *helper_operator(PyObject *module, PyObject *args);
PyObject *helper_load(PyObject *module, PyObject *other);
PyObject *helper_store_slot(PyObject *module, PyObject *other);
PyObject *helper_attribute(PyObject *module, PyObject *other);
PyObject *helper_store_attribute(PyObject *module, PyObject *other);
PyObject *helper_truth(PyObject *module, PyObject *other);
PyObject *helper_site(PyObject *module, PyObject *args);
PyObject *helper_call(PyObject *module, PyObject *args);

#endif
