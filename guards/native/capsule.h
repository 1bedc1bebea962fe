/* The C interfaces of the extension modules, which are in a capsule `_C_API` each. */
#ifndef PIJIT_GUARDS_CAPSULE_H
#define PIJIT_GUARDS_CAPSULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* All names are hidden but for these functions: up to CPython 3.8 PyMODINIT_FUNC does not say so. */
#define MODULE_INIT __attribute__((visibility("default"))) PyMODINIT_FUNC

/* The struct, which begins with an int that says its version, in the capsule `name`, "<module>._C_API": borrowed, valid
 * for ever; NULL with ImportError set. */
static inline const void *
capsule_import_api(const char *module_name, const char *name, int version)
{
    /* Not PyCapsule_Import: it imports the first name only and expects submodules as attributes. */
    PyObject *module = PyImport_ImportModule(module_name);  /* owned */
    if (module == NULL) {
        return NULL;
    }
    PyObject *capsule = PyObject_GetAttrString(module, "_C_API");  /* owned */
    Py_DECREF(module);
    if (capsule == NULL) {
        return NULL;
    }
    const int *api = PyCapsule_GetPointer(capsule, name);
    Py_DECREF(capsule);
    if (api != NULL && *api != version) {
        PyErr_Format(PyExc_ImportError, "%s has C API version %d, version %d is needed", module_name, *api, version);
        return NULL;
    }
    return api;
}

#endif
