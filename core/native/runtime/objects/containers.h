/* Lists, tuples, dicts and sets in kernels: reads, and effects other than single stores. */
#ifndef PIJIT_RUNTIME_OBJECTS_CONTAINERS_H
#define PIJIT_RUNTIME_OBJECTS_CONTAINERS_H

#include "launcher/abi.h"

/* Reads a borrowed object. Its words replace those that give its expected type. */
int64_t object_read(int64_t frame, PyObject *object, int64_t *spec);

/* The value under a key, borrowed, if it may be dropped. Otherwise NULL. */
PyObject *removable(PyObject *dict, PyObject *key);
int64_t key_remove(int64_t dict, int64_t key);

#endif
