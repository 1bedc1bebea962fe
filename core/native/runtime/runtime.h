/* What most functions of the runtime table need: element sizes, and the references that a call owns.
 *
 * Part of table.c, which defines the functions that abi.h declares. */
#ifndef PIJIT_RUNTIME_H
#define PIJIT_RUNTIME_H

#include "launcher/abi.h"
#include <string.h>

static const int64_t OK = 0;

/* Size of an element in bytes. */
static int
value_size(int typenum)
{
    return scalar_size(typenum) << scalar_is_complex(typenum);
}

static OwnedList *
frame_owned(int64_t frame)
{
    return (OwnedList *)((int64_t *)frame)[1];
}

/* Moves a reference to an object from the list to the caller. Returns 1, or 0 if the list has none. */
static int
owned_take(OwnedList *owned, PyObject *object)
{
    for (Py_ssize_t i = owned->count - 1; i >= 0; i--) {
        if (owned->items[i] == object) {
            owned->count--;
            memmove(owned->items + i, owned->items + i + 1, (owned->count - i) * sizeof(PyObject *));
            return 1;
        }
    }
    return 0;
}

static int64_t
runtime_retain(int64_t frame, int64_t object)
{
    Py_INCREF((PyObject *)object);
    return owned_push(frame_owned(frame), (PyObject *)object) < 0 ? LAUNCHER_ERROR : OK;
}

#endif
