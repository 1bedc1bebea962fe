/* EntryCache: the entries of one function, each a guard program and a payload.
 *
 * A lookup tries the entries in order and moves the one that hits before the others of its rank. So a stable caller
 * pays for one program. Of two entries whose guards hold for one call, that of the lower rank serves. At the limit
 * add() refuses, and the existing entries stay in use. An evaluation may run code that changes the same cache, through
 * a dict key's __eq__ or in mirror mode. `changes` counts modifications. A lookup that sees it change ends as a miss,
 * because its entries may be gone.
 *
 * An entry is dead when a guarded class, function or other object is gone. Dead entries are removed at the next miss
 * or add(). */
#ifndef PIJIT_GUARDS_CACHE_H
#define PIJIT_GUARDS_CACHE_H

#include "evaluate.h"
#include "program.h"

typedef struct {
    ProgramObject *program; /* owned */
    PyObject *payload;      /* owned */
    Count hits;
    Py_ssize_t rank; /* entries of lower ranks are tried first */
} CacheEntry;

typedef struct {
    PyObject_HEAD
    CacheEntry *entries; /* owned, room for `limit` */
    Py_ssize_t size, limit;
    Count hits, misses, changes;
    char warned; /* whether the warning about the limit was issued */
} CacheObject;

extern PyTypeObject CacheType;

/* NEW reference to the payload of the first entry whose guards hold for these roots; NULL on a miss. NULL with an
 * exception only in mirror mode or out of memory. `fetched` may be NULL. */
PyObject *cache_search(CacheObject *self, const Roots *roots, Fetched *fetched);

#endif
