/* Import of C interfaces between the extension modules, each in a capsule `_C_API`. */
#ifndef PIJIT_GUARDS_CAPSULE_INL_H
#define PIJIT_GUARDS_CAPSULE_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* The struct in the capsule `name`, "<module>._C_API": borrowed, never freed; NULL with ImportError set. The struct
 * begins with an int, its version. */
static inline const void *
capsule_import_api(const char *module_name, const char *name, int version)
{
    /* Not PyCapsule_Import: that imports only the first name and expects submodules as attributes. */
    PyObject *module = PyImport_ImportModule(module_name); /* owned */
    if (module == NULL) {
        return NULL;
    }
    PyObject *capsule = PyObject_GetAttrString(module, "_C_API"); /* owned */
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
