/* Lookup in a PointerMap. */
#ifndef PIJIT_TAPE_POINTER_MAP_INL_H
#define PIJIT_TAPE_POINTER_MAP_INL_H

#include "tape/pointer_map.h"
#include <stdint.h>

/* The slot of a key, or the empty slot where it belongs. The map has slots. */
static inline PointerSlot *
pointer_map_slot(const PointerMap *map, const void *key)
{
    /* Fibonacci hashing: objects are 16 bytes apart at least, and neighbours get distant slots. */
    size_t at = (size_t)((((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9E3779B97F4A7C15)) >> 32);
    for (;; at++) {
        PointerSlot *slot = &map->slots[at & map->mask];
        if (slot->key == key || slot->key == NULL) {
            return slot;
        }
    }
}

/* The number of a key; -1 if it has none. */
static inline Py_ssize_t
pointer_map_get(const PointerMap *map, const void *key)
{
    if (map->used == 0) {
        return -1;
    }
    const PointerSlot *slot = pointer_map_slot(map, key);
    return slot->key != NULL ? slot->number : -1;
}

#endif
