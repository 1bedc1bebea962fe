/* Effects of kernels on Python objects: lists, dicts, attributes, globals, cells; inlined functions. */
#ifndef PIJIT_RUNTIME_OBJECTS_STORES_INL_H
#define PIJIT_RUNTIME_OBJECTS_STORES_INL_H

#include "launcher/abi.h"
#include "runtime/objects/stores.h"

static inline int
gives_up_quietly(PyObject *object, Py_ssize_t references)
{
    return quiet_at_depth(object, references, 0);
}

static inline int
dies_quietly(PyObject *object)
{
    return gives_up_quietly(object, 1);
}

/* The location of a list's item, or NULL if there is none. A negative index counts from the end. */
static inline PyObject **
item_slot(int64_t list, int64_t index)
{
    Py_ssize_t size = PyList_GET_SIZE((PyObject *)list);
    if (index < 0) {
        index += size;
    }
    return index < 0 || index >= size ? NULL : &((PyListObject *)list)->ob_item[index];
}

#endif
