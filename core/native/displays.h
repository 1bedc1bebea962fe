/* New tuples, lists and dicts for kernels. Part of runtime.c, apart for its size.
 *
 * The caller leaves [kind, word] for each value in the words from `spec` on, as effects.h reads them; the object
 * that was made replaces the first word. */
#ifndef PIJIT_DISPLAYS_H
#define PIJIT_DISPLAYS_H

#include "effects.h"

/* The object for value number `index` of a spec: a new reference, NULL with MemoryError set. */
static PyObject *
spec_box(const int64_t *spec, int64_t index)
{
    return value_box(spec[2 * index], (int64_t)(spec + 2 * index + 1));
}

/* Gives the frame the reference to `made`, which may be NULL with an exception set. */
static int64_t
spec_answer(int64_t frame, int64_t *spec, PyObject *made)
{
    if (made == NULL || owned_push(frame_owned(frame), made) < 0) {
        return LAUNCHER_ERROR;
    }
    spec[0] = (int64_t)made;
    return 0;
}

static int64_t
runtime_new_list(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *list = PyList_New(count);  /* owned, moved to the frame */
    for (int64_t i = 0; list != NULL && i < count; i++) {
        PyObject *value = spec_box(spec, i);  /* moved into the list */
        if (value == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, value);
    }
    return spec_answer(frame, spec, list);
}

static int64_t
runtime_new_tuple(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *tuple = PyTuple_New(count);  /* owned, moved to the frame */
    for (int64_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = spec_box(spec, i);  /* moved into the tuple */
        if (value == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, value);
    }
    return spec_answer(frame, spec, tuple);
}

static int64_t
runtime_tuple_of(int64_t frame, int64_t list, int64_t address)
{
    return spec_answer(frame, (int64_t *)address, PyList_AsTuple((PyObject *)list));
}

/* `count` pairs of a key and a value. */
static int64_t
runtime_new_dict(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *dict = PyDict_New();  /* owned, moved to the frame */
    for (int64_t i = 0; dict != NULL && i < count; i++) {
        PyObject *key = spec_box(spec, 2 * i);  /* owned */
        PyObject *value = key != NULL ? spec_box(spec, 2 * i + 1) : NULL;  /* owned */
        if (value == NULL || PyDict_SetItem(dict, key, value) < 0) {
            Py_CLEAR(dict);
        }
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return spec_answer(frame, spec, dict);
}

#endif
