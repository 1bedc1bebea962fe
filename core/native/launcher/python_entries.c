/* Entries of dicts and sets, and positions of their iterators, for the Python back end. */
#include "launcher/python_entries.h"
#include "launcher/abi.h"
#include "cpython/dict_iterator_inl.h"

/* (owner, position, left, used) of an iterator over a dict or set, which Python code cannot read otherwise. */
static PyObject *
module_dict_iterator(PyObject *Py_UNUSED(module), PyObject *object)
{
    const DictIterator *iterator = (const DictIterator *)object;
    if (Py_TYPE(object) == &PySetIter_Type) {
        const SetIterator *members = (const SetIterator *)object;
        return Py_BuildValue("(Onnn)", members->set == NULL ? Py_None : members->set, members->position, members->left,
                             members->used);
    }
    if (Py_TYPE(object) != &PyDictIterKey_Type && Py_TYPE(object) != &PyDictIterValue_Type
        && Py_TYPE(object) != &PyDictIterItem_Type) {
        PyErr_Format(PyExc_TypeError, "not an iterator over a dict or set: %R", object);
        return NULL;
    }
    return Py_BuildValue("(Onnn)", iterator->dict == NULL ? Py_None : iterator->dict, iterator->position, iterator->left,
                         iterator->used);
}

static PyObject *
module_next_entry(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *owner, *key, *value = Py_None; /* borrowed */
    Py_ssize_t position;
    if (!PyArg_ParseTuple(args, "On:next_entry", &owner, &position)) {
        return NULL;
    }
    if (!PyDict_Check(owner) && !PyAnySet_Check(owner)) {
        PyErr_Format(PyExc_TypeError, "neither a dict nor a set: %R", owner);
        return NULL;
    }
    if (!(PyDict_Check(owner) ? PyDict_Next(owner, &position, &key, &value) : set_next(owner, &position, &key))) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(nOO)", position, key, value);
}

static PyObject *
module_taken_entry(PyObject *Py_UNUSED(module), PyObject *owner)
{
    if (!PyDict_Check(owner) && !PyAnySet_Check(owner)) {
        PyErr_Format(PyExc_TypeError, "neither a dict nor a set: %R", owner);
        return NULL;
    }
    return PyLong_FromLongLong(entry_to_take(owner));
}

PyMethodDef entry_functions[] = {
    {"taken_entry", module_taken_entry, METH_O, "The position after the entry that popitem or pop takes, 0 for none."},
    {"dict_iterator", module_dict_iterator, METH_O, "(owner, position, left, used) of an iterator over a dict or set."},
    {"next_entry", module_next_entry, METH_VARARGS, "(position after it, key, value) of the next entry, or None."},
    {NULL},
};
