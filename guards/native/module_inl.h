/* Initialisation of extension modules: objects and types that a module holds under names. */
#ifndef PIJIT_GUARDS_MODULE_INL_H
#define PIJIT_GUARDS_MODULE_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* All symbols are hidden except module init functions, which up to CPython 3.8 PyMODINIT_FUNC does not export. */
#define MODULE_INIT __attribute__((visibility("default"))) PyMODINIT_FUNC

/* Add a new object, which the module takes over; NULL is an error. 0, or -1 with an exception set. */
static inline int
module_give(PyObject *module, const char *name, PyObject *object)
{
    if (object == NULL) {
        return -1;
    }
    if (PyModule_AddObject(module, name, object) < 0) {
        Py_DECREF(object);
        return -1;
    }
    return 0;
}

/* Add an object; the module gets a reference of its own. 0, or -1 with an exception set. */
static inline int
module_add(PyObject *module, const char *name, PyObject *object)
{
    Py_INCREF(object);
    return module_give(module, name, object);
}

/* Prepare a type and add it. 0, or -1 with an exception set. */
static inline int
module_add_type(PyObject *module, const char *name, PyTypeObject *type)
{
    return PyType_Ready(type) < 0 ? -1 : module_add(module, name, (PyObject *)type);
}

#endif
