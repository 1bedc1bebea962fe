/* Owned references: the objects that one launcher call holds for its kernel. */
#include "launcher/abi.h"
#include <string.h>

static int
owned_grow(OwnedList *owned)
{
    Py_ssize_t capacity = owned->capacity * 2;
    PyObject **items = owned->items == owned->inline_items ? NULL : owned->items;
    items = PyMem_Realloc(items, capacity * sizeof(PyObject *));
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (owned->items == owned->inline_items) {
        memcpy(items, owned->inline_items, sizeof(owned->inline_items));
    }
    owned->items = items;
    owned->capacity = capacity;
    return 0;
}

int
owned_push(OwnedList *owned, PyObject *object)
{
    if (owned->count == owned->capacity && owned_grow(owned) < 0) {
        Py_DECREF(object);
        return -1;
    }
    owned->items[owned->count++] = object;
    return 0;
}

void
owned_clear(OwnedList *owned)
{
    while (owned->count > 0) {
        Py_DECREF(owned->items[--owned->count]);
    }
    for (int place = 0; place < owned->kept_end; place++) {
        Py_XDECREF(owned->kept[place].array);
    }
    if (owned->items != owned->inline_items) {
        PyMem_Free(owned->items);
    }
}
