/* Effects of kernels on Python objects: lists, dicts, attributes, globals, cells.
 *
 * No user code may run inside a kernel, because the kernel may have values in registers that this code changes. So a
 * store bails out, without an effect, in two cases. One is that it would end the life of an object whose end is
 * observable. The other is that the target is not a plain dict, slot, list or cell. */
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"
#include "launcher/abi.h"
#include "lookup/instance_inl.h"
#include "lookup/lookup_inl.h"
#include "runtime/entries.h"
#include <string.h>
#include <structmember.h>

#if PY_VERSION_HEX >= 0x030E0000
#error "the references that objects have when they end: nobody has looked at this version of CPython"
#endif

PyObject *
value_box(int64_t kind, int64_t address)
{
    const int64_t *words = (const int64_t *)address;
    double number;
    Py_complex pair;

    switch (kind) {
    case BOX_INT: return PyLong_FromLongLong(words[0]);
    case BOX_BOOL: return PyBool_FromLong(words[0] != 0);
    case BOX_FLOAT: memcpy(&number, words, sizeof(number)); return PyFloat_FromDouble(number);
    case BOX_COMPLEX: memcpy(&pair, words, sizeof(pair)); return PyComplex_FromCComplex(pair);
    case BOX_OBJECT: Py_INCREF((PyObject *)words[0]); return (PyObject *)words[0];
    default: break;
    }
    PyObject *type = PyArray_TypeObjectFromType((int)kind);                                      /* owned */
    PyObject *scalar = type == NULL ? NULL : scalar_box((PyTypeObject *)type, (int)kind, words); /* the result */
    Py_XDECREF(type);
    return scalar;
}

static int
array_gives_up_quietly(PyArrayObject *array, Py_ssize_t references)
{
    PyObject *base = PyArray_BASE(array); /* borrowed */
    return *PyObject_GET_WEAKREFS_LISTPTR((PyObject *)array) == NULL && Py_REFCNT(PyArray_DESCR(array)) > 1
           && !PyDataType_REFCHK(PyArray_DESCR(array)) && !PyArray_CHKFLAGS(array, NPY_ARRAY_WRITEBACKIFCOPY)
           && (base == NULL || gives_up_quietly(base, references));
}

/* The current depth of a traversal of an object that is to end. */
typedef struct {
    int depth;
} QuietVisit;

static destructor instance_dealloc; /* tp_dealloc of classes made by class statements */

/* Visits an object held by the one that is to end. That one may hold several references to it, so only its type
 * counts. */
static int
quiet_visit(PyObject *object, void *visit)
{
    return !PyType_Check(object) && !quiet_at_depth(object, PY_SSIZE_T_MAX, ((QuietVisit *)visit)->depth);
}

/* True if the end of an instance of a plain class, or of a dict, runs no user code. This includes the ends of the
 * objects that it holds. */
static int
holder_ends_quietly(PyObject *object, int depth)
{
    PyTypeObject *type = Py_TYPE(object);
    QuietVisit visit = {depth + 1};
    for (PyTypeObject *base = type; base != &PyBaseObject_Type && base != &PyDict_Type; base = base->tp_base) {
        if (base == NULL || base->tp_dealloc != instance_dealloc || base->tp_finalize != NULL || base->tp_del != NULL) {
            return 0;
        }
    }
    return depth < DEEPEST_QUIET && type->tp_traverse != NULL && (type == &PyDict_Type || !PyDict_Check(object))
           && (!PyType_SUPPORTS_WEAKREFS(type) || *PyObject_GET_WEAKREFS_LISTPTR(object) == NULL)
           && type->tp_traverse(object, quiet_visit, &visit) == 0;
}

int
quiet_at_depth(PyObject *object, Py_ssize_t references, int depth)
{
    PyTypeObject *type = Py_TYPE(object);
    if (Py_REFCNT(object) > references || object == Py_None || type == &PyFloat_Type || type == &PyLong_Type
        || type == &PyBool_Type || type == &PyUnicode_Type || type == &PyComplex_Type || type == &PyBytes_Type) {
        return 1;
    }
    if (type == &PyArray_Type) {
        return array_gives_up_quietly((PyArrayObject *)object, references);
    }
    return (PyArray_IsScalar(object, Number) && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) || holder_ends_quietly(object, depth);
}

int
quiet_ends_init(void)
{
    PyObject *plain = PyErr_NewException("pijit.Plain", NULL, NULL); /* owned */
    if (plain == NULL) {
        return -1;
    }
    instance_dealloc = ((PyTypeObject *)plain)->tp_dealloc;
    Py_DECREF(plain);
    return 0;
}

/* Boxes a value for `put`, which takes a reference of its own. */
static int64_t
value_put(int (*put)(PyObject *, PyObject *), int64_t container, int64_t kind, int64_t address)
{
    PyObject *value = value_box(kind, address); /* owned */
    int status = value == NULL ? -1 : put((PyObject *)container, value);
    Py_XDECREF(value);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_append(int64_t list, int64_t kind, int64_t address)
{
    return value_put(PyList_Append, list, kind, address);
}

/* Replaces the reference at a heap location, which may be empty. */
static int64_t
place_store(PyObject **slot, int64_t kind, int64_t address)
{
    PyObject *old = *slot; /* the location's reference, released here */
    if (old != NULL && !dies_quietly(old)) {
        return BAILED_OUT;
    }
    PyObject *value = value_box(kind, address); /* moved to the location */
    if (value == NULL) {
        return LAUNCHER_ERROR;
    }
    *slot = value;
    Py_XDECREF(old);
    return 0;
}

int64_t
runtime_store_item(int64_t list, int64_t index, int64_t kind, int64_t address)
{
    PyObject **slot = item_slot(list, index);
    return slot == NULL ? BAILED_OUT : place_store(slot, kind, address);
}

int64_t
runtime_store_cell(int64_t cell, int64_t kind, int64_t address)
{
    return place_store(&((PyCellObject *)cell)->ob_ref, kind, address);
}

/* The last dict that was found to be no namespace, and its version at that time. */
static PyObject *plain_dict; /* borrowed: only its address is compared */

static uint64_t plain_version;

/* Records that a dict is still no namespace. Called after a store to such a dict. */
static void
namespace_note(PyObject *dict)
{
    plain_dict = dict;
    plain_version = dict_version(dict);
}

int
is_namespace(PyObject *dict)
{
    static PyObject *name; /* owned, never released */
    PyObject *found;       /* borrowed */
    if (plain_dict == dict && plain_version == dict_version(dict)) {
        return 0;
    }
    if (name == NULL && (name = PyUnicode_InternFromString("__builtins__")) == NULL) {
        PyErr_Clear();
        return 1;
    }
    return dict == PyEval_GetBuiltins() || dict_find(dict, name, &found) != LOOKUP_ABSENT;
}

/* dict[key] = value. `owner` is NULL or the object whose instance dict it is. */
static int64_t
dict_store(PyObject *dict, PyObject *key, int64_t kind, int64_t address, PyObject *owner)
{
    Py_hash_t hash = PyObject_Hash(key); /* once, because tuples do not cache theirs */
    PyObject *old = NULL;                /* borrowed */
    if (hash == -1 || dict_lookup(dict, key, hash, &old) < 0 || (old != NULL && !dies_quietly(old))) {
        PyErr_Clear(); /* bytecode repeats it and raises at its line */
        return BAILED_OUT;
    }
    PyObject *value = value_box(kind, address); /* owned */
    if (value == NULL) {
        return LAUNCHER_ERROR;
    }
    /* A new attribute is set by object's method, which lets the instances of a class share their keys. */
    int status = old == NULL && owner != NULL ? PyObject_GenericSetAttr(owner, key, value) : dict_set(dict, key, value, hash);
    Py_DECREF(value);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_store_key(int64_t dict, int64_t key, int64_t kind, int64_t address)
{
    int named = PyUnicode_CheckExact((PyObject *)key);
    if (named && is_namespace((PyObject *)dict)) {
        return BAILED_OUT;
    }
    int64_t status = dict_store((PyObject *)dict, (PyObject *)key, kind, address, NULL);
    if (named && status == 0) {
        namespace_note((PyObject *)dict);
    }
    return status;
}

int64_t
runtime_store_global(int64_t name, int64_t kind, int64_t address)
{
    PyObject *globals = PyEval_GetGlobals(); /* borrowed: of the frame that runs the linked code */
    if (globals == NULL || !PyDict_CheckExact(globals)) {
        return BAILED_OUT;
    }
    return dict_store(globals, (PyObject *)name, kind, address, NULL);
}

PyObject **
member_slot(PyObject *object, PyObject *found)
{
    PyMemberDescrObject *slot = (PyMemberDescrObject *)found;
    if (Py_TYPE(found) != &PyMemberDescr_Type || slot->d_member->type != T_OBJECT_EX || (slot->d_member->flags & READONLY)
        || !PyType_IsSubtype(Py_TYPE(object), slot->d_common.d_type)) {
        return NULL;
    }
    return (PyObject **)((char *)object + slot->d_member->offset);
}

int
attributes_are_own(PyObject *object, PyObject **dict)
{
    *dict = instance_dict(object);
    return *dict == NULL ? instance_has_values(object) : PyDict_CheckExact(*dict) && Py_REFCNT(*dict) == 1;
}

/* object.name = value, for an instance that has attributes without a dict. */
static int64_t
values_store(PyObject *object, PyObject *name, int64_t kind, int64_t address)
{
    PyObject *old; /* borrowed */
    if (instance_values_find(object, name, &old) < 0 || (old != NULL && !dies_quietly(old))) {
        return BAILED_OUT;
    }
    PyObject *value = value_box(kind, address); /* owned */
    int status = value == NULL ? -1 : PyObject_GenericSetAttr(object, name, value);
    Py_XDECREF(value);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

/* cls.name = value, if no metaclass or descriptor handles the store. */
static int64_t
class_store(PyTypeObject *cls, PyObject *name, int64_t kind, int64_t address)
{
    PyObject *meta = _PyType_Lookup(Py_TYPE(cls), name); /* borrowed */
    PyObject *old = NULL;                                /* borrowed */
    if (!(cls->tp_flags & Py_TPFLAGS_HEAPTYPE) || (meta != NULL && Py_TYPE(meta)->tp_descr_set != NULL)
        || dict_find(cls->tp_dict, name, &old) < LOOKUP_ABSENT || (old != NULL && !dies_quietly(old))) {
        PyErr_Clear(); /* bytecode repeats it and raises at its line */
        return BAILED_OUT;
    }
    PyObject *value = value_box(kind, address); /* owned */
    int status = value == NULL ? -1 : PyType_Type.tp_setattro((PyObject *)cls, name, value);
    Py_XDECREF(value);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_store_attr(int64_t owner, int64_t name, int64_t kind, int64_t address)
{
    PyObject *object = (PyObject *)owner, *key = (PyObject *)name; /* borrowed */
    if (PyType_Check(object) && Py_TYPE(object)->tp_setattro == PyType_Type.tp_setattro) {
        return class_store((PyTypeObject *)object, key, kind, address);
    }
    if (PyModule_CheckExact(object)) {
        return dict_store(PyModule_GetDict(object), key, kind, address, NULL);
    }
    if (Py_TYPE(object)->tp_setattro != PyObject_GenericSetAttr || PyModule_Check(object)) {
        return BAILED_OUT;
    }
    return runtime_plain_store_attr(owner, name, kind, address);
}

int64_t
runtime_plain_store_attr(int64_t owner, int64_t name, int64_t kind, int64_t address)
{
    PyObject *object = (PyObject *)owner, *key = (PyObject *)name; /* borrowed */
    PyObject *found = _PyType_Lookup(Py_TYPE(object), key);        /* borrowed */
    if (found != NULL && Py_TYPE(found)->tp_descr_set != NULL) {
        PyObject **slot = member_slot(object, found);
        return slot == NULL ? BAILED_OUT : place_store(slot, kind, address);
    }
    PyObject *dict; /* borrowed */
    if (!attributes_are_own(object, &dict)) {
        return BAILED_OUT;
    }
    return dict == NULL ? values_store(object, key, kind, address) : dict_store(dict, key, kind, address, object);
}
