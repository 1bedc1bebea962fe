/* PointerMap: a hash table from pointers to numbers, with open addressing. Keys are compared by address. */
#ifndef PIJIT_TAPE_POINTER_MAP_H
#define PIJIT_TAPE_POINTER_MAP_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    const void *key; /* borrowed: the user of the map keeps it alive; NULL: empty */
    Py_ssize_t number;
} PointerSlot;

/* All zeros: an empty map. */
typedef struct {
    PointerSlot *slots; /* owned */
    size_t mask;        /* the number of slots - 1, which is a power of two - 1; 0: none */
    size_t used;
} PointerMap;

/* Set the number of a key: 0, or -1 with an exception set. */
int pointer_map_set(PointerMap *map, const void *key, Py_ssize_t number);

void pointer_map_release(PointerMap *map);

#endif
