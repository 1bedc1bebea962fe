/* The type of named tuples' fields, and the getter that Python trusts. */
#include "trusted_getters.h"

PyTypeObject *tuple_getter_type = NULL;
descrgetfunc trusted_getter = NULL;

int
tuple_getter_find(void)
{
    PyObject *module = PyImport_ImportModule("_collections");                                 /* owned */
    PyObject *found = module != NULL ? PyObject_GetAttrString(module, "_tuplegetter") : NULL; /* owned, kept */
    if (module == NULL) {
        return -1;
    }
    Py_DECREF(module);
    if (found == NULL) {
        PyErr_Clear();
    }
    tuple_getter_type = (PyTypeObject *)found;
    return 0;
}

PyObject *
module_trust_getter(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type) || ((PyTypeObject *)type)->tp_descr_get == NULL) {
        return PyErr_Format(PyExc_TypeError, "type must be a class with __get__, not %R", type);
    }
    trusted_getter = ((PyTypeObject *)type)->tp_descr_get;
    Py_RETURN_NONE;
}
