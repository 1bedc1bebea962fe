/* Fetching: reads the value of each kind of source without running user code.
 *
 * Every function named *_fetch returns a NEW reference, or NULL without an exception. NULL means that the value is
 * absent, or that only code outside of CPython could read it (a property, a module's __getattr__, a dict subclass).
 * NULL makes the guard fail, so a refusal here is always safe. The rules for attributes, in the order of CPython's
 * lookup:
 *
 *   instances   only if tp_getattro is PyObject_GenericGetAttr or that of modules. A data descriptor of the type
 *               comes first: a member descriptor (a slot) is read, others are refused. Then the instance's dict.
 *               Then the class attribute: refused if it has a __get__ (each access of a function would bind it
 *               again), except a plain staticmethod.
 *   types       only if tp_getattro is that of type. A data descriptor of the metaclass is refused. Then the MRO:
 *               values without __get__, and the builtin descriptors and jitted functions, whose
 *               __get__(None, type) runs no user code. Then a metaclass attribute without __get__.
 *
 * A lookup in a dict that would compare with a key of a user class is refused (lookup_inl.h). CPython's lookup of a class
 * attribute may compare any keys. So registers hold strong references, and a function that walks a structure reads it
 * again after a fetch. */
#ifndef PIJIT_GUARDS_FETCH_INL_H
#define PIJIT_GUARDS_FETCH_INL_H

#include <Python.h>
#include <string.h>

#include "lookup/instance_inl.h"
#include "roots.h"
#include "trusted_getters.h"

/* BORROWED reference to a root value, or NULL. */
static inline PyObject *
root_get(const Roots *roots, Py_ssize_t index)
{
    return index < roots->nvalues ? roots->values[index] : NULL;
}

/* 1: found, *value is a NEW reference; 0: no such key; -1: a key would run its own code. *value is NULL unless
 * found. */
static inline int
dict_item_find(PyObject *dict, PyObject *key, PyObject **value)
{
    int found = dict_find(dict, key, value); /* borrowed until the next line */
    Py_XINCREF(*value);
    return found;
}

static inline PyObject *
dict_item_fetch(PyObject *dict, PyObject *key)
{
    PyObject *value; /* owned */
    (void)dict_item_find(dict, key, &value);
    return value;
}

static inline PyObject *
cell_fetch(const Roots *roots, Py_ssize_t index)
{
    PyObject *cell = root_get(roots, index); /* borrowed */
    return cell != NULL && PyCell_Check(cell) ? PyCell_Get(cell) : NULL;
}

/* As dict_item_find, in the globals and then the builtins; also -1 if LOAD_GLOBAL would not look in plain dicts. */
static inline int
global_find(const Roots *roots, PyObject *name, PyObject **value)
{
    *value = NULL;
    if (roots->globals == NULL || !PyDict_CheckExact(roots->globals)) {
        return -1;
    }
    int found = dict_item_find(roots->globals, name, value);
    if (found != 0) {
        return found;
    }
    if (roots->builtins == NULL || !PyDict_CheckExact(roots->builtins)) {
        return -1;
    }
    return dict_item_find(roots->builtins, name, value);
}

static inline PyObject *
global_fetch(const Roots *roots, PyObject *name)
{
    PyObject *value; /* owned */
    (void)global_find(roots, name, &value);
    return value;
}

/* Whether a value is a tuple, or of a subclass that reads items, length and iterator as tuples do. */
static inline int
is_plain_tuple(PyObject *value)
{
    if (!PyTuple_Check(value)) {
        return 0;
    }
    PyTypeObject *type = Py_TYPE(value);
    return type->tp_as_mapping->mp_subscript == PyTuple_Type.tp_as_mapping->mp_subscript
           && type->tp_as_sequence->sq_length == PyTuple_Type.tp_as_sequence->sq_length
           && type->tp_iter == PyTuple_Type.tp_iter;
}

/* Item of a plain tuple or exact list by position (counted from the end if negative), or of a dict by key. */
static inline PyObject *
item_fetch(PyObject *base, PyObject *key, Py_ssize_t position)
{
    if (PyDict_CheckExact(base)) {
        return dict_item_fetch(base, key);
    }
    if (!PyLong_CheckExact(key) || !(PyList_CheckExact(base) || is_plain_tuple(base))) {
        return NULL;
    }
    if (position < 0) {
        position += Py_SIZE(base);
    }
    if (position < 0 || position >= Py_SIZE(base)) {
        return NULL;
    }
    PyObject *item = PyList_CheckExact(base) ? PyList_GET_ITEM(base, position)
                                             : PyTuple_GET_ITEM(base, position); /* borrowed */
    Py_XINCREF(item);
    return item;
}

/* The key at index `position` of a dict, in insertion order. */
static inline PyObject *
key_fetch(PyObject *base, Py_ssize_t position)
{
    PyObject *key; /* borrowed */
    Py_ssize_t place = 0;
    if (!PyDict_CheckExact(base)) {
        return NULL;
    }
    while (PyDict_Next(base, &place, &key, NULL)) {
        if (position-- == 0) {
            Py_INCREF(key);
            return key;
        }
    }
    return NULL;
}

/* Whether there is certainly no such item; 0 if that is not known. */
static inline int
item_is_absent(PyObject *base, PyObject *key, Py_ssize_t position)
{
    if (PyDict_CheckExact(base)) {
        PyObject *value; /* owned */
        int found = dict_item_find(base, key, &value);
        Py_XDECREF(value);
        return found == 0;
    }
    if (!PyLong_CheckExact(key) || !(PyList_CheckExact(base) || is_plain_tuple(base))) {
        return 0;
    }
    return position < -Py_SIZE(base) || position >= Py_SIZE(base);
}

/* The value of a builtin descriptor, read by its own C getter. */
static inline PyObject *
descriptor_fetch(PyObject *descriptor, PyObject *instance, PyTypeObject *type)
{
    PyObject *value = Py_TYPE(descriptor)->tp_descr_get(descriptor, instance, (PyObject *)type); /* owned */
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

/* Whether descriptor.__get__(None, type) runs no user code: it is code of CPython, or trust_getter was called for
 * it. */
static inline int
descriptor_is_plain_on_types(PyObject *descriptor)
{
    PyTypeObject *kind = Py_TYPE(descriptor);
    return (trusted_getter != NULL && kind->tp_descr_get == trusted_getter) || kind == &PyFunction_Type
           || kind == &PyStaticMethod_Type || kind == &PyMethodDescr_Type || kind == &PyMemberDescr_Type
           || kind == &PyGetSetDescr_Type || kind == &PyWrapperDescr_Type || kind == &PyProperty_Type
           || kind == tuple_getter_type;
}

static inline PyObject *
instance_attribute_fetch(PyObject *object, PyObject *name)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject *class_value = _PyType_Lookup(type, name); /* borrowed */
    descrgetfunc getter = class_value != NULL ? Py_TYPE(class_value)->tp_descr_get : NULL;
    if (getter != NULL && Py_TYPE(class_value)->tp_descr_set != NULL) {
        int is_slot = Py_TYPE(class_value) == &PyMemberDescr_Type;
        return is_slot ? descriptor_fetch(class_value, object, type) : NULL;
    }
    Py_XINCREF(class_value); /* owned from here */
    PyObject *value;         /* borrowed after the next line, owned after the one that follows */
    int found = instance_find(object, name, &value);
    Py_XINCREF(value);
    if (found == 0 && class_value != NULL) {
        if (getter == NULL) {
            return class_value;
        }
        if (Py_TYPE(class_value) == &PyStaticMethod_Type) {
            value = descriptor_fetch(class_value, object, type);
        }
    }
    Py_XDECREF(class_value);
    return value;
}

static inline PyObject *
type_attribute_fetch(PyTypeObject *type, PyObject *name)
{
    PyObject *meta_value = _PyType_Lookup(Py_TYPE(type), name); /* borrowed */
    descrgetfunc meta_getter = meta_value != NULL ? Py_TYPE(meta_value)->tp_descr_get : NULL;
    if (meta_getter != NULL && Py_TYPE(meta_value)->tp_descr_set != NULL) {
        return NULL;
    }
    PyObject *value = _PyType_Lookup(type, name); /* borrowed */
    if (value != NULL && Py_TYPE(value)->tp_descr_get != NULL) {
        return descriptor_is_plain_on_types(value) ? descriptor_fetch(value, NULL, type) : NULL;
    }
    if (value == NULL && meta_getter == NULL) {
        value = meta_value;
    }
    Py_XINCREF(value);
    return value;
}

/* The way to read attributes of an object; ATTRIBUTES_BY_CODE: they cannot be read here. */
enum { ATTRIBUTES_BY_CODE, ATTRIBUTES_OF_INSTANCE, ATTRIBUTES_OF_TYPE };

static inline int
attribute_rule(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (!type_is_ready(type)) {
        return ATTRIBUTES_BY_CODE; /* a static type that PyType_Ready never saw: a lookup would crash */
    }
    if (PyType_Check(object)) {
        int plain = type->tp_getattro == PyType_Type.tp_getattro && type_is_ready((PyTypeObject *)object);
        return plain ? ATTRIBUTES_OF_TYPE : ATTRIBUTES_BY_CODE;
    }
    int plain = type->tp_getattro == PyObject_GenericGetAttr || type->tp_getattro == PyModule_Type.tp_getattro;
    return plain ? ATTRIBUTES_OF_INSTANCE : ATTRIBUTES_BY_CODE;
}

/* 1: the instance's dict has no such key, or there is no dict; 0: it has, or a key would run its own code. */
static inline int
instance_dict_lacks(PyObject *object, PyObject *name)
{
    PyObject *value; /* borrowed */
    return instance_find(object, name, &value) == LOOKUP_ABSENT;
}

/* Whether reading the attribute certainly raises AttributeError, without running code before. */
static inline int
attribute_is_absent(PyObject *object, PyObject *name)
{
    switch (attribute_rule(object)) {
    case ATTRIBUTES_OF_INSTANCE:
        return !PyModule_Check(object) && _PyType_Lookup(Py_TYPE(object), name) == NULL && instance_dict_lacks(object, name);
    case ATTRIBUTES_OF_TYPE:
        return _PyType_Lookup(Py_TYPE(object), name) == NULL && _PyType_Lookup((PyTypeObject *)object, name) == NULL;
    default: return 0;
    }
}

static inline PyObject *
attribute_fetch(PyObject *object, PyObject *name)
{
    switch (attribute_rule(object)) {
    case ATTRIBUTES_OF_INSTANCE: return instance_attribute_fetch(object, name);
    case ATTRIBUTES_OF_TYPE: return type_attribute_fetch((PyTypeObject *)object, name);
    default: return NULL;
    }
}

/* The object that the class has as attribute `name`, neither bound nor run, if a read of the attribute would find
 * it. */
static inline PyObject *
raw_attribute_fetch(PyObject *object, PyObject *name)
{
    int rule = attribute_rule(object);
    if (rule == ATTRIBUTES_BY_CODE) {
        return NULL;
    }
    PyObject *on_type = _PyType_Lookup(Py_TYPE(object), name); /* borrowed */
    int is_data = on_type != NULL && Py_TYPE(on_type)->tp_descr_get != NULL && Py_TYPE(on_type)->tp_descr_set != NULL;
    if (rule == ATTRIBUTES_OF_TYPE) {
        PyObject *value = is_data ? NULL : _PyType_Lookup((PyTypeObject *)object, name); /* borrowed */
        Py_XINCREF(value);
        return value;
    }
    Py_XINCREF(on_type); /* owned from here */
    if (on_type != NULL && !is_data && !instance_dict_lacks(object, name)) {
        Py_DECREF(on_type);
        return NULL;
    }
    return on_type;
}

/* The shape of an exact array: a NEW tuple; NULL without an exception if there is none. */
static inline PyObject *
shape_fetch(PyObject *object)
{
    if (Py_TYPE(object) != &PyArray_Type) {
        return NULL;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    PyObject *shape = PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_DIMS(array)); /* owned, given away */
    if (shape == NULL) {
        PyErr_Clear();
    }
    return shape;
}

/* The memory of an array of a subclass as a NEW plain array; NULL without an exception for other objects. A plain array
 * needs no __array_finalize__, so no code of the class runs. */
static inline PyObject *
memory_fetch(PyObject *object)
{
    if (!PyArray_Check(object) || PyArray_CheckExact(object)) {
        return NULL;
    }
    PyObject *array = PyArray_View((PyArrayObject *)object, NULL, &PyArray_Type); /* owned, given away */
    if (array == NULL) {
        PyErr_Clear();
    }
    return array;
}

/* The dict of an instance. Like a read of `__dict__`, this makes it if the object has none yet. */
static inline PyObject *
instance_dict_fetch(PyObject *object)
{
    if (PyType_Check(object) || Py_TYPE(object)->tp_dictoffset == 0) {
        return NULL;
    }
    PyObject *dict = PyObject_GenericGetDict(object, NULL); /* new: the result */
    if (dict == NULL) {
        PyErr_Clear();
    }
    return dict;
}

/* The dict of an instance, or None if it has none yet: a NEW reference. NULL without an exception for classes and for
 * objects that never have one. */
static inline PyObject *
present_dict_fetch(PyObject *object)
{
    if (PyType_Check(object) || Py_TYPE(object)->tp_dictoffset == 0) {
        return NULL;
    }
    PyObject *dict = instance_dict(object); /* borrowed, owned below */
    dict = dict != NULL ? dict : Py_None;
    Py_INCREF(dict);
    return dict;
}

/* The number of an object's own attributes; no dict is made to count them. -1 without an exception for static classes,
 * objects that never have a dict, and dicts of a subclass. */
static inline Py_ssize_t
own_count(PyObject *object)
{
    if (PyType_Check(object)) {
        PyTypeObject *type = (PyTypeObject *)object; /* borrowed */
        return PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) && type->tp_dict != NULL ? PyDict_GET_SIZE(type->tp_dict) : -1;
    }
    if (Py_TYPE(object)->tp_dictoffset == 0) {
        return -1;
    }
    PyObject *dict = instance_dict(object); /* borrowed */
    if (dict == NULL) {
        return instance_values_count(object);
    }
    return PyDict_CheckExact(dict) ? PyDict_GET_SIZE(dict) : -1;
}

/* The name of a function, or of a class that is not static: a NEW reference; NULL without an exception for other
 * objects. */
static inline PyObject *
name_fetch(PyObject *object)
{
    PyObject *known = NULL; /* borrowed */
    if (Py_TYPE(object) == &PyFunction_Type) {
        known = ((PyFunctionObject *)object)->func_name;
    }
    else if (PyType_Check(object) && PyType_HasFeature((PyTypeObject *)object, Py_TPFLAGS_HEAPTYPE)) {
        known = ((PyHeapTypeObject *)object)->ht_name;
    }
    if (known != NULL) {
        Py_INCREF(known);
        return known;
    }
    if (Py_TYPE(object) != &PyCFunction_Type) {
        return NULL;
    }
    PyObject *name = PyUnicode_FromString(((PyCFunctionObject *)object)->m_ml->ml_name); /* owned, given away */
    if (name == NULL) {
        PyErr_Clear();
    }
    return name;
}

/* BORROWED start, stop or step of a slice; `part` is the index in Inner.PARTS. */
static inline PyObject *
slice_part(PyObject *slice, Py_ssize_t part)
{
    PySliceObject *parts = (PySliceObject *)slice;
    return part == 8 ? parts->start : part == 9 ? parts->stop : parts->step;
}

/* The referent of a weak reference: a NEW reference; NULL without an exception if it is dead, or for other objects. */
static inline PyObject *
referent_fetch(PyObject *object)
{
    return PyWeakref_CheckRefExact(object) ? referent(object) : NULL;
}

/* A part of a function, cell, method or slice, or an instance's dict, read from its struct: audit hooks would see a
 * read of the attribute. `part` is the index in Inner.PARTS of guards/source.py. */
static inline PyObject *
inner_fetch(PyObject *object, Py_ssize_t part)
{
    PyObject *value; /* borrowed; NULL: none */
    if (part == 7) {
        return shape_fetch(object);
    }
    if (part == 11) {
        return name_fetch(object);
    }
    if (part == 5) {
        return instance_dict_fetch(object);
    }
    if (part == 13) {
        return present_dict_fetch(object);
    }
    if (part == 12) {
        return referent_fetch(object);
    }
    if (part == 14) {
        return memory_fetch(object);
    }
    if (part == 6) {
        value = PyType_Check(object) ? ((PyTypeObject *)object)->tp_mro : NULL;
    }
    else if (part < 2 && Py_TYPE(object) == &PyFunction_Type) {
        value = part == 0 ? PyFunction_GET_DEFAULTS(object) : PyFunction_GET_KW_DEFAULTS(object);
        value = value != NULL ? value : Py_None;
    }
    else if (part == 2 && PyCell_Check(object)) {
        value = PyCell_GET(object);
    }
    else if ((part == 3 || part == 4) && Py_TYPE(object) == &PyMethod_Type) {
        value = part == 3 ? PyMethod_GET_FUNCTION(object) : PyMethod_GET_SELF(object);
    }
    else if (part == 4 && Py_TYPE(object) == &PyCFunction_Type) {
        value = PyCFunction_GET_SELF(object);
        value = value != NULL ? value : Py_None;
    }
    else if (part >= 8 && PySlice_Check(object)) {
        value = slice_part(object, part);
    }
    else {
        return NULL;
    }
    Py_XINCREF(value);
    return value;
}

#endif
