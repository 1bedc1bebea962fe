#include "tape/pointer_map.h"
#include "tape/pointer_map_inl.h"

#define FEWEST_SLOTS 64

/* Double the number of slots: 0, or -1 with an exception set. */
static int
pointer_map_grow(PointerMap *map)
{
    size_t count = map->mask != 0 ? (map->mask + 1) * 2 : FEWEST_SLOTS;
    PointerMap grown = {PyMem_New(PointerSlot, count), count - 1, map->used};
    if (grown.slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(grown.slots, 0, count * sizeof(PointerSlot));
    for (size_t i = 0; map->mask != 0 && i <= map->mask; i++) {
        if (map->slots[i].key != NULL) {
            *pointer_map_slot(&grown, map->slots[i].key) = map->slots[i];
        }
    }
    PyMem_Free(map->slots);
    *map = grown;
    return 0;
}

int
pointer_map_set(PointerMap *map, const void *key, Py_ssize_t number)
{
    if ((map->mask == 0 || map->used * 3 >= map->mask * 2) && pointer_map_grow(map) < 0) {
        return -1;
    }
    PointerSlot *slot = pointer_map_slot(map, key);
    map->used += slot->key == NULL;
    slot->key = key;
    slot->number = number;
    return 0;
}

void
pointer_map_release(PointerMap *map)
{
    PyMem_Free(map->slots);
    memset(map, 0, sizeof(*map));
}
