/* Python's interface to code_marks.h, on all versions. */
#ifndef PIJIT_FUNCTION_MARKS_CODE_MARKS_MODULE_H
#define PIJIT_FUNCTION_MARKS_CODE_MARKS_MODULE_H

#include "function/dispatch.h"

extern PyTypeObject Unbound_Type;

/* Make `*slot` own a callable, or NULL for None: 0, or -1 with an exception set for other objects. */
int callable_set(PyObject **slot, PyObject *callable);

typedef struct {
    const char *name;
    PyTypeObject *type;
} ModuleType;

/* The module, with the contents of all versions and the types `more`: a NEW reference, or NULL with an exception
 * set. */
PyObject *marks_module(struct PyModuleDef *definition, const ModuleType *more);

#endif
