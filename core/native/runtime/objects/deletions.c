/* Deletion of attributes, globals and cells; stores to and deletion of slices of lists.
 *
 * As in stores.h, a function that returns BAILED_OUT has had no effect. It also returns BAILED_OUT where Python would
 * raise. */
#include "launcher/abi.h"
#include "lookup/instance_inl.h"
#include "runtime/entries.h"
#include "runtime/objects/containers.h"
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"

int64_t
runtime_delete_attr(int64_t owner, int64_t name)
{
    PyObject *object = (PyObject *)owner, *key = (PyObject *)name, *old = NULL; /* borrowed */
    if (Py_TYPE(object)->tp_setattro != PyObject_GenericSetAttr) {
        return BAILED_OUT;
    }
    PyObject *found = _PyType_Lookup(Py_TYPE(object), key); /* borrowed */
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        PyObject **slot = member_slot(object, found);
        old = slot != NULL ? *slot : NULL;
    }
    else {
        PyObject *dict; /* borrowed */
        if (attributes_are_own(object, &dict) && instance_find_in(object, dict, key, &old) < 0) {
            old = NULL;
        }
    }
    if (old == NULL || !dies_quietly(old)) {
        return BAILED_OUT;
    }
    return PyObject_GenericSetAttr(object, key, NULL) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_delete_global(int64_t name)
{
    PyObject *globals = PyEval_GetGlobals(); /* borrowed: of the frame that runs the linked code */
    if (globals == NULL || !PyDict_CheckExact(globals) || removable(globals, (PyObject *)name) == NULL) {
        return BAILED_OUT;
    }
    return key_remove((int64_t)globals, name);
}

int64_t
runtime_delete_cell(int64_t cell)
{
    PyObject **slot = &((PyCellObject *)cell)->ob_ref;
    PyObject *old = *slot; /* the cell's reference, released here */
    if (old == NULL || !dies_quietly(old)) {
        return BAILED_OUT;
    }
    *slot = NULL;
    Py_DECREF(old);
    return 0;
}

/* True if all items of a slice of a list may be dropped at once. */
static int
part_ends_quietly(PyObject *list, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
        PyErr_Clear();
        return 0;
    }
    Py_ssize_t count = PySlice_AdjustIndices(PyList_GET_SIZE(list), &start, &stop, step);
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!gives_up_quietly(PyList_GET_ITEM(list, start + i * step), count)) {
            return 0;
        }
    }
    return 1;
}

/* `items` is an exact list or tuple, or NULL to delete. */
static int64_t
part_assign(int64_t list, int64_t slice, PyObject *items)
{
    PyObject *owner = (PyObject *)list, *part = (PyObject *)slice; /* borrowed */
    if (!part_ends_quietly(owner, part)) {
        return BAILED_OUT;
    }
    if (PyList_Type.tp_as_mapping->mp_ass_subscript(owner, part, items) < 0) {
        PyErr_Clear(); /* bytecode repeats it and raises at its line */
        return BAILED_OUT;
    }
    return 0;
}

int64_t
runtime_store_slice(int64_t list, int64_t slice, int64_t items)
{
    return part_assign(list, slice, (PyObject *)items);
}

int64_t
runtime_delete_slice(int64_t list, int64_t slice)
{
    return part_assign(list, slice, NULL);
}
