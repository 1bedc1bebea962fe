/* Lists, tuples, dicts and sets in kernels: reads, and effects other than single stores.
 *
 * A read checks the exact type of the object that it finds. It bails out, without an effect, if the type is another.
 * The rule of stores.h about the end of objects applies here, too. A list, tuple or dict that was read is a borrowed
 * pointer. No effect of a kernel drops the last reference to one, because a program can observe its end. Key tuples may
 * be dropped with their entries, so the frame holds a key tuple where that can happen. */
#include "runtime/objects/containers.h"
#include "launcher/abi.h"
#include "cpython/dict_iterator_inl.h"
#include "cpython/int_keys.h"
#include "lookup/instance_inl.h"
#include "lookup/lookup_inl.h"
#include "runtime/entries.h"
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"
#include "runtime/runtime_inl.h"
#include "runtime/ufuncs/library_calls.h"

/* Reads an array, which the frame holds until its last use. It may live longer than in bytecode, so its end must not be
 * observable. */
static int64_t
array_hold(int64_t frame, PyObject *object, int64_t *spec)
{
    const Wanted wanted = *(const Wanted *)spec; /* a copy: the result replaces it */
    int64_t status = dies_quietly(object) ? array_read(&wanted, object, spec) : BAILED_OUT;
    if (status != 0) {
        return status;
    }
    Py_INCREF(object);
    return owned_push(frame_owned(frame), object) < 0 ? LAUNCHER_ERROR : 0;
}

/* Reads a string. The frame holds it, because a later store may drop it. */
static int64_t
text_hold(int64_t frame, PyObject *object, int64_t *spec)
{
    if (!PyUnicode_CheckExact(object) || !PyUnicode_IS_READY(object)) {
        return BAILED_OUT;
    }
    spec[0] = (int64_t)object;
    Py_INCREF(object);
    return owned_push(frame_owned(frame), object) < 0 ? LAUNCHER_ERROR : 0;
}

static int64_t
pointer_read(PyObject *object, PyTypeObject *type, int64_t *spec)
{
    if (Py_TYPE(object) != type) {
        return BAILED_OUT;
    }
    spec[0] = (int64_t)object;
    return 0;
}

/* Reads a tuple that is a dict key or a set member. The frame holds it, because it may be dropped with its entry. */
static int64_t
tuple_hold(int64_t frame, PyObject *object, int64_t *spec)
{
    int64_t status = pointer_read(object, &PyTuple_Type, spec);
    if (status != 0) {
        return status;
    }
    Py_INCREF(object);
    return owned_push(frame_owned(frame), object) < 0 ? LAUNCHER_ERROR : 0;
}

/* Reads an object of any class. The frame holds it, because a later store may drop it. It may live longer than in
 * bytecode, so its end must not be observable. */
static int64_t
any_hold(int64_t frame, PyObject *object, int64_t *spec)
{
    if (!dies_quietly(object)) {
        return BAILED_OUT;
    }
    spec[0] = (int64_t)object;
    Py_INCREF(object);
    return owned_push(frame_owned(frame), object) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
object_read(int64_t frame, PyObject *object, int64_t *spec)
{
    switch (spec[0]) {
    case READ_ARRAY: return array_hold(frame, object, spec);
    case READ_LIST: return pointer_read(object, &PyList_Type, spec);
    case READ_TUPLE: return pointer_read(object, &PyTuple_Type, spec);
    case READ_DICT: return pointer_read(object, &PyDict_Type, spec);
    case READ_TEXT: return text_hold(frame, object, spec);
    case READ_ANY: return pointer_read(object, Py_TYPE(object), spec);
    case READ_TUPLE_HELD: return tuple_hold(frame, object, spec);
    case READ_ANY_HELD: return any_hold(frame, object, spec);
    default: return number_read(spec[0], object, spec);
    }
}

/* ---- reads ---- */

int64_t
runtime_length(int64_t container)
{
    PyObject *object = (PyObject *)container;
    return PyDict_Check(object) ? PyDict_GET_SIZE(object) : PyAnySet_Check(object) ? PySet_GET_SIZE(object) : Py_SIZE(object);
}

int64_t
runtime_load_item(int64_t frame, int64_t owner, int64_t index, int64_t spec)
{
    PyObject *object = (PyObject *)owner;
    PyObject **items = PyList_Check(object) ? ((PyListObject *)object)->ob_item : ((PyTupleObject *)object)->ob_item;
    index += index < 0 ? Py_SIZE(object) : 0;
    return index < 0 || index >= Py_SIZE(object) ? BAILED_OUT : object_read(frame, items[index], (int64_t *)spec);
}

int64_t
runtime_load_key(int64_t frame, int64_t dict, int64_t key, int64_t spec)
{
    PyObject *found; /* borrowed */
    return dict_find((PyObject *)dict, (PyObject *)key, &found) == LOOKUP_FOUND ? object_read(frame, found, (int64_t *)spec)
                                                                                : BAILED_OUT;
}

/* Stores in the first word of `spec` whether a dict or set has the key. */
int64_t
runtime_has_key(int64_t owner, int64_t key, int64_t spec)
{
    PyObject *object = (PyObject *)owner;
    PyObject *value; /* borrowed */
    int found = PyDict_Check(object) ? dict_find(object, (PyObject *)key, &value) : set_find(object, (PyObject *)key);
    *(int64_t *)spec = found;
    return found < 0 ? BAILED_OUT : 0;
}

int64_t
runtime_get_key(int64_t frame, int64_t dict, int64_t key, int64_t kind, int64_t address, int64_t spec)
{
    PyObject *found; /* owned from here on */
    if (dict_find((PyObject *)dict, (PyObject *)key, &found) < 0) {
        return BAILED_OUT;
    }
    Py_XINCREF(found);
    if (found == NULL && (found = value_box(kind, address)) == NULL) {
        return LAUNCHER_ERROR;
    }
    int64_t status = object_read(frame, found, (int64_t *)spec);
    Py_DECREF(found);
    return status;
}

/* ---- lists ---- */

static int64_t
item_remove(PyObject *list, Py_ssize_t index)
{
    return PyList_SetSlice(list, index, index + 1, NULL) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_delete_item(int64_t list, int64_t index)
{
    PyObject **slot = item_slot(list, index);
    if (slot == NULL || !dies_quietly(*slot)) {
        return BAILED_OUT;
    }
    return item_remove((PyObject *)list, slot - ((PyListObject *)list)->ob_item);
}

int64_t
runtime_taken_entry(int64_t owner)
{
    return entry_to_take((PyObject *)owner);
}

static PyObject *popitem; /* owned: dict.popitem */

/* Removes an entry that exists and whose end runs no code. */
int64_t
runtime_take_entry(int64_t owner)
{
    PyObject *object = (PyObject *)owner; /* borrowed */
    PyObject *taken = NULL;               /* owned */
    if (PyAnySet_Check(object)) {
        taken = PySet_Pop(object);
    }
    else if (is_namespace(object)) {
        return BAILED_OUT;
    }
    else if (popitem != NULL || (popitem = PyObject_GetAttrString((PyObject *)&PyDict_Type, "popitem")) != NULL) {
        taken = PyObject_CallFunctionObjArgs(popitem, object, NULL);
    }
    Py_XDECREF(taken);
    return taken == NULL ? LAUNCHER_ERROR : 0;
}

/* Removes an item that exists and whose end runs no code. */
int64_t
runtime_list_take(int64_t list, int64_t index)
{
    PyObject **slot = item_slot(list, index);
    return slot == NULL ? BAILED_OUT : item_remove((PyObject *)list, slot - ((PyListObject *)list)->ob_item);
}

int64_t
runtime_pop_item(int64_t frame, int64_t list, int64_t index, int64_t spec)
{
    PyObject **slot = item_slot(list, index);
    int64_t status = slot == NULL ? BAILED_OUT : object_read(frame, *slot, (int64_t *)spec);
    return status != 0 ? status : item_remove((PyObject *)list, slot - ((PyListObject *)list)->ob_item);
}

int64_t
runtime_insert(int64_t list, int64_t index, int64_t kind, int64_t address)
{
    PyObject *value = value_box(kind, address); /* owned */
    int status = value == NULL ? -1 : PyList_Insert((PyObject *)list, (Py_ssize_t)index, value);
    Py_XDECREF(value);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

/* `items` must be an exact list or tuple. */
int64_t
runtime_extend(int64_t list, int64_t items)
{
#if PY_VERSION_HEX < 0x030D0000
    PyObject *none = _PyList_Extend((PyListObject *)list, (PyObject *)items); /* owned */
    Py_XDECREF(none);
    return none == NULL ? LAUNCHER_ERROR : 0;
#else
    return PyList_Extend((PyObject *)list, (PyObject *)items) < 0 ? LAUNCHER_ERROR : 0;
#endif
}

int64_t
runtime_reverse(int64_t list)
{
    return PyList_Reverse((PyObject *)list) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_clear_list(int64_t list)
{
    Py_ssize_t size = PyList_GET_SIZE((PyObject *)list);
    for (Py_ssize_t i = 0; i < size; i++) {
        if (!gives_up_quietly(PyList_GET_ITEM((PyObject *)list, i), size)) {
            return BAILED_OUT;
        }
    }
    return PyList_SetSlice((PyObject *)list, 0, size, NULL) < 0 ? LAUNCHER_ERROR : 0;
}

/* ---- dicts ---- */

PyObject *
removable(PyObject *dict, PyObject *key)
{
    PyObject *found; /* borrowed: the result */
    (void)dict_find(dict, key, &found);
    return found != NULL && dies_quietly(found) ? found : NULL;
}

int64_t
key_remove(int64_t dict, int64_t key)
{
    return PyDict_DelItem((PyObject *)dict, (PyObject *)key) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_delete_key(int64_t dict, int64_t key)
{
    PyObject *owner = (PyObject *)dict; /* borrowed */
    return removable(owner, (PyObject *)key) == NULL || is_namespace(owner) ? BAILED_OUT : key_remove(dict, key);
}

int64_t
runtime_pop_key(int64_t frame, int64_t dict, int64_t key, int64_t spec)
{
    int64_t status = is_namespace((PyObject *)dict) ? BAILED_OUT : runtime_load_key(frame, dict, key, spec);
    return status != 0 ? status : key_remove(dict, key);
}

int64_t
runtime_discard_key(int64_t dict, int64_t key)
{
    PyObject *found; /* borrowed */
    switch (dict_find((PyObject *)dict, (PyObject *)key, &found)) {
    case LOOKUP_ABSENT: return 0;
    case LOOKUP_FOUND: return runtime_delete_key(dict, key);
    default: return BAILED_OUT;
    }
}

int64_t
runtime_pop_default(int64_t frame, int64_t dict, int64_t key, int64_t kind, int64_t address, int64_t spec)
{
    PyObject *found; /* borrowed */
    int64_t status = is_namespace((PyObject *)dict) ? BAILED_OUT : runtime_get_key(frame, dict, key, kind, address, spec);
    if (status != 0 || dict_find((PyObject *)dict, (PyObject *)key, &found) != LOOKUP_FOUND) {
        return status;
    }
    return key_remove(dict, key);
}

int64_t
runtime_setdefault(int64_t frame, int64_t dict, int64_t key, int64_t kind, int64_t address, int64_t spec)
{
    PyObject *found; /* borrowed */
    int known = dict_find((PyObject *)dict, (PyObject *)key, &found);
    if (known != LOOKUP_ABSENT) {
        return found == NULL ? BAILED_OUT : object_read(frame, found, (int64_t *)spec);
    }
    if (is_namespace((PyObject *)dict)) {
        return BAILED_OUT;
    }
    PyObject *value = value_box(kind, address); /* owned */
    int64_t status = value == NULL ? LAUNCHER_ERROR : object_read(frame, value, (int64_t *)spec);
    if (status == 0) {
        status = PyDict_SetItem((PyObject *)dict, (PyObject *)key, value) < 0 ? LAUNCHER_ERROR : 0;
    }
    Py_XDECREF(value);
    return status;
}

/* True if dict.update(more) runs no user code: the keys are plain, and all old values may be dropped at once. */
static int
updates_quietly(PyObject *dict, PyObject *more)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t position = 0;
    if (is_namespace(dict)) {
        return 0;
    }
    while (PyDict_Next(more, &position, &key, &value)) {
        if (!PyUnicode_CheckExact(key) && !PyLong_CheckExact(key)) {
            return 0;
        }
        PyObject *old; /* borrowed */
        if (dict_find(dict, key, &old) < 0 || (old != NULL && !gives_up_quietly(old, PyDict_GET_SIZE(more)))) {
            return 0;
        }
    }
    return 1;
}

int64_t
runtime_update(int64_t dict, int64_t more)
{
    if (!updates_quietly((PyObject *)dict, (PyObject *)more)) {
        return BAILED_OUT;
    }
    return PyDict_Update((PyObject *)dict, (PyObject *)more) < 0 ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_clear_dict(int64_t dict)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t position = 0, size = PyDict_GET_SIZE((PyObject *)dict);
    if (is_namespace((PyObject *)dict)) {
        return BAILED_OUT;
    }
    while (PyDict_Next((PyObject *)dict, &position, &key, &value)) {
        if (!gives_up_quietly(key, 2 * size) || !gives_up_quietly(value, 2 * size)) {
            return BAILED_OUT;
        }
    }
    PyDict_Clear((PyObject *)dict);
    return 0;
}

/* ---- dicts with an int key that is a word ---- */

int64_t
runtime_load_int(int64_t frame, int64_t dict, int64_t number, int64_t spec)
{
    PyObject *key = lookup_int(number); /* owned */
    if (key == NULL) {
        return LAUNCHER_ERROR;
    }
    int64_t status = runtime_load_key(frame, dict, (int64_t)key, spec);
    lookup_done(key);
    return status;
}

int64_t
runtime_get_int(int64_t frame, int64_t dict, int64_t number, int64_t kind, int64_t address, int64_t spec)
{
    PyObject *key = lookup_int(number); /* owned */
    if (key == NULL) {
        return LAUNCHER_ERROR;
    }
    int64_t status = runtime_get_key(frame, dict, (int64_t)key, kind, address, spec);
    lookup_done(key);
    return status;
}

/* Stores a value under an int. A dict that has the key keeps its key object; otherwise the key is a new int. */
int64_t
runtime_store_int(int64_t dict, int64_t number, int64_t kind, int64_t address)
{
    PyObject *key = lookup_int(number); /* owned */
    Py_hash_t hash = key == NULL ? -1 : PyObject_Hash(key);
    if (hash == -1) {
        Py_XDECREF(key);
        return LAUNCHER_ERROR;
    }
    PyObject *old; /* borrowed */
    if (dict_lookup((PyObject *)dict, key, hash, &old) < 0 || (old != NULL && !dies_quietly(old))) {
        PyErr_Clear();
        lookup_done(key);
        return BAILED_OUT;
    }
    PyObject *own = old == NULL ? PyLong_FromLongLong(number) : NULL;               /* owned */
    PyObject *value = old == NULL && own == NULL ? NULL : value_box(kind, address); /* owned */
    int status = value == NULL ? -1 : dict_set((PyObject *)dict, own != NULL ? own : key, value, hash);
    Py_XDECREF(own);
    Py_XDECREF(value);
    lookup_done(key);
    return status < 0 ? LAUNCHER_ERROR : 0;
}

/* The next entry of a dict or set from a position on. Returns 0 if there is none. The value of a set's entry is
 * NULL. */
static inline int
entry_next(PyObject *owner, Py_ssize_t *position, PyObject **key, PyObject **value)
{
    *value = NULL;
    return PyDict_Check(owner) ? PyDict_Next(owner, position, key, value) : set_next(owner, position, key);
}

/* The position after the next entry from a position on, or 0 after the last one. Positions are those of the containers'
 * iterators. */
int64_t
runtime_next_entry(int64_t owner, int64_t position)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t next = (Py_ssize_t)position;
    return entry_next((PyObject *)owner, &next, &key, &value) ? next : 0;
}

/* `end` is a result of next_entry. */
int64_t
runtime_entry_key(int64_t frame, int64_t owner, int64_t end, int64_t spec)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t next = (Py_ssize_t)end - 1;
    return entry_next((PyObject *)owner, &next, &key, &value) ? object_read(frame, key, (int64_t *)spec) : BAILED_OUT;
}

int64_t
runtime_entry_value(int64_t frame, int64_t dict, int64_t end, int64_t spec)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t next = (Py_ssize_t)end - 1;
    return PyDict_Next((PyObject *)dict, &next, &key, &value) ? object_read(frame, value, (int64_t *)spec) : BAILED_OUT;
}
