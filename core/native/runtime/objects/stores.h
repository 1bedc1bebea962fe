/* Effects of kernels on Python objects: lists, dicts, attributes, globals, cells. */
#ifndef PIJIT_RUNTIME_OBJECTS_STORES_H
#define PIJIT_RUNTIME_OBJECTS_STORES_H

#include "launcher/abi.h"

/* Boxes the words at `address` as an object of a BOX_ kind, or as a NumPy scalar. Returns a new reference, or NULL with
 * an exception set. */
PyObject *value_box(int64_t kind, int64_t address);

#define DEEPEST_QUIET 4

/* True if dropping at most `references` references cannot run user code: no finalizer, no callback of a weak
 * reference. */
int quiet_at_depth(PyObject *object, Py_ssize_t references, int depth);

/* Finds tp_dealloc of plain classes. Returns 0, or -1 with an exception set. */
int quiet_ends_init(void);

/* True if a dict holds the global variables of a module, or the builtins. Guards depend on the contents of these. */
int is_namespace(PyObject *dict);

/* The location of a slot's value in an object. `found` is the attribute of its class. NULL unless that is a plain
 * slot. */
PyObject **member_slot(PyObject *object, PyObject *found);

/* True if an instance does not share its attributes. If something else refers to the dict, another instance may have
 * it, or code may read it as a dict. *dict is BORROWED; it is NULL if the attributes are in the instance itself. */
int attributes_are_own(PyObject *object, PyObject **dict);

#endif
