/* Construction of tuples, lists, dicts, sets and numbers in kernels.
 *
 * The caller passes [kind, word, word] for each value, in the words from `spec` on, as stores.h reads them. The new
 * object replaces the first word. */
#include "runtime/objects/construct.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/instances.h"
#include "runtime/objects/stores.h"
#include "runtime/runtime_inl.h"

PyObject *
spec_box(const int64_t *spec, int64_t index)
{
    return value_box(spec[SPEC_WORDS * index], (int64_t)(spec + SPEC_WORDS * index + 1));
}

int64_t
spec_answer(int64_t frame, int64_t *spec, PyObject *made)
{
    if (made == NULL || owned_push(frame_owned(frame), made) < 0) {
        return LAUNCHER_ERROR;
    }
    spec[0] = (int64_t)made;
    return 0;
}

/* Moves the objects of a spec into the items of the new container `made`. `made` is NULL if its allocation failed. */
static int64_t
items_fill(int64_t frame, int64_t address, int64_t count, PyObject *made, PyObject **items)
{
    int64_t *spec = (int64_t *)address;
    for (int64_t i = 0; made != NULL && i < count; i++) {
        items[i] = spec_box(spec, i); /* moved into the container */
        if (items[i] == NULL) {
            Py_CLEAR(made);
        }
    }
    return spec_answer(frame, spec, made);
}

int64_t
runtime_new_list(int64_t frame, int64_t count, int64_t address)
{
    PyObject *list = PyList_New(count); /* owned, moved to the frame */
    return items_fill(frame, address, count, list, list == NULL ? NULL : ((PyListObject *)list)->ob_item);
}

int64_t
runtime_new_tuple(int64_t frame, int64_t count, int64_t address)
{
    PyObject *tuple = PyTuple_New(count); /* owned, moved to the frame */
    return items_fill(frame, address, count, tuple, tuple == NULL ? NULL : ((PyTupleObject *)tuple)->ob_item);
}

int64_t
runtime_tuple_of(int64_t frame, int64_t list, int64_t address)
{
    return spec_answer(frame, (int64_t *)address, PyList_AsTuple((PyObject *)list));
}

/* The values are `count` pairs of a key and a value. */
int64_t
runtime_new_dict(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *dict = PyDict_New(); /* owned, moved to the frame */
    for (int64_t i = 0; dict != NULL && i < count; i++) {
        PyObject *key = spec_box(spec, 2 * i);                            /* owned */
        PyObject *value = key != NULL ? spec_box(spec, 2 * i + 1) : NULL; /* owned */
        if (value == NULL || PyDict_SetItem(dict, key, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return spec_answer(frame, spec, dict);
}

/* The values must be numbers or strings. */
int64_t
runtime_new_set(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *set = PySet_New(NULL); /* owned, moved to the frame */
    for (int64_t i = 0; set != NULL && i < count; i++) {
        PyObject *value = spec_box(spec, i); /* owned */
        if (value == NULL || PySet_Add(set, value) < 0) {
            Py_CLEAR(set);
        }
        Py_XDECREF(value);
    }
    return spec_answer(frame, spec, set);
}

/* The values are start, stop and step. */
int64_t
runtime_new_slice(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *start = spec_box(spec, 0), *stop = spec_box(spec, 1), *step = spec_box(spec, 2); /* owned */
    PyObject *slice = NULL;                                                                    /* owned, moved to the frame */
    if (count == 3 && start != NULL && stop != NULL && step != NULL) {
        slice = PySlice_New(start, stop, step);
    }
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return spec_answer(frame, spec, slice);
}

/* The values are a container of a builtin class and the name of one of its methods. */
int64_t
runtime_bound_method(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    return spec_answer(frame, spec, PyObject_GetAttr((PyObject *)spec[1], (PyObject *)spec[SPEC_WORDS + 1]));
}

#define FEW_VALUES 16

/* The values are the address of an object or 0, a class, a tuple of names, and one value for each name. */
int64_t
runtime_changed_instance(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *made = NULL;     /* owned, moved to the frame */
    PyObject *few[FEW_VALUES]; /* owned, the first `boxed` of them */
    PyObject **values = count - 3 <= FEW_VALUES ? few : PyMem_New(PyObject *, count - 3);
    int64_t boxed = 0;
    if (values == NULL) {
        PyErr_NoMemory();
        return LAUNCHER_ERROR;
    }
    while (boxed < count - 3 && (values[boxed] = spec_box(spec, boxed + 3)) != NULL) {
        boxed++;
    }
    if (boxed == count - 3) {
        made = instance_make((PyObject *)spec[1], (PyObject *)spec[SPEC_WORDS + 1], (PyObject *)spec[2 * SPEC_WORDS + 1],
                             values);
    }
    while (boxed > 0) {
        Py_DECREF(values[--boxed]);
    }
    if (values != few) {
        PyMem_Free(values);
    }
    return spec_answer(frame, spec, made);
}

int64_t
runtime_new_instance(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *found = (PyObject *)spec[1]; /* borrowed: the launcher holds it */
    if (found == NULL) {
        return runtime_changed_instance(frame, count, address);
    }
    Py_INCREF(found);
    return spec_answer(frame, spec, found);
}

/* The values are the one to box. */
int64_t
runtime_box(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    return spec_answer(frame, spec, spec_box(spec, 0));
}
