/* Attribute reads in kernels, from objects of any class.
 *
 * A read looks up the attribute as CPython does. It bails out if the lookup would run code, or if it finds another
 * type; see containers.h. */
#include "launcher/abi.h"
#include "lookup/instance_inl.h"
#include "lookup/lookup_inl.h"
#include "runtime/entries.h"
#include "runtime/objects/containers.h"
#include "runtime/objects/stores.h"

/* The attribute of an object, BORROWED. NULL if the object has none or reading it runs code. */
static PyObject *
attribute_find(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type->tp_getattro != PyObject_GenericGetAttr || !type_is_ready(type)) {
        return NULL;
    }
    PyObject *found = _PyType_Lookup(type, name); /* borrowed */
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        PyObject **slot = member_slot(object, found);
        return slot == NULL ? NULL : *slot;
    }
    PyObject *dict = instance_dict(object), *value; /* borrowed */
    if ((dict != NULL && !PyDict_CheckExact(dict)) || instance_find_in(object, dict, name, &value) < 0) {
        return NULL;
    }
    return value != NULL || found == NULL || Py_TYPE(found)->tp_descr_get != NULL ? value : found;
}

/* True if an object certainly has no attribute of this name in its own dict or values. */
int64_t
runtime_lacks_own(int64_t owner, int64_t name)
{
    PyObject *object = (PyObject *)owner, *dict = instance_dict(object), *value; /* borrowed */
    return (dict == NULL || PyDict_CheckExact(dict))
           && instance_find_in(object, dict, (PyObject *)name, &value) == LOOKUP_ABSENT;
}

int64_t
runtime_load_attr(int64_t frame, int64_t owner, int64_t name, int64_t spec)
{
    PyObject *found = attribute_find((PyObject *)owner, (PyObject *)name); /* borrowed */
    return found == NULL ? BAILED_OUT : object_read(frame, found, (int64_t *)spec);
}
