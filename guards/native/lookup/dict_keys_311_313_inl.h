/* Key tables of dicts in CPython 3.11 to 3.13. Part of lookup_inl.h.
 *
 * A table whose keys are all exact strings stores no hashes. A split dict stores its values apart from the keys, which
 * instances of one class share. So does an instance that has no dict (instance_311_313_inl.h). */
#ifndef PIJIT_GUARDS_DICT_KEYS_311_313_INL_H
#define PIJIT_GUARDS_DICT_KEYS_311_313_INL_H

#include "lookup/compare_keys_inl.h"

#ifdef Py_GIL_DISABLED
#error "the keys of dicts have a lock where there is no GIL"
#endif

/* struct _dictkeysobject, which no public header declares. */
typedef struct {
    Py_ssize_t references;
    uint8_t log2_size, log2_index_bytes, kind;
    uint32_t version;
    Py_ssize_t usable;
    Py_ssize_t entries;
    char indices[];
} KeyTable;

enum { KEYS_OF_ANY_TYPE = 0 }; /* the kind of a table that has hashes */

typedef struct {
    Py_hash_t hash;
    PyObject *key;
    PyObject *value;
} KeyEntry;

typedef struct {
    PyObject *key;
    PyObject *value;
} TextEntry;

/* struct _dictvalues: from 3.13 on it begins with four bytes of header. */
enum { VALUES_BEGIN = PY_VERSION_HEX >= 0x030D0000 ? sizeof(PyObject *) : 0 };

static inline PyObject **
split_values(const void *values)
{
    return (PyObject **)((char *)values + VALUES_BEGIN);
}

static inline Py_ssize_t
table_entry(const KeyTable *table, size_t slot)
{
    if (table->log2_size < 8) {
        return ((const int8_t *)table->indices)[slot];
    }
    if (table->log2_size < 16) {
        return ((const int16_t *)table->indices)[slot];
    }
    return table->log2_size < 32 ? ((const int32_t *)table->indices)[slot]
                                 : (Py_ssize_t)((const int64_t *)table->indices)[slot];
}

static inline const void *
table_entries(const KeyTable *table)
{
    return table->indices + ((size_t)1 << table->log2_index_bytes);
}

/* The key of an entry, BORROWED; NULL if its hash differs. */
static inline PyObject *
entry_key(const KeyTable *table, Py_ssize_t at, Py_hash_t hash)
{
    if (table->kind == KEYS_OF_ANY_TYPE) {
        const KeyEntry *entry = (const KeyEntry *)table_entries(table) + at;
        return entry->hash == hash ? entry->key : NULL;
    }
    PyObject *key = ((const TextEntry *)table_entries(table))[at].key; /* borrowed */
    return ((PyASCIIObject *)key)->hash == hash ? key : NULL;
}

/* Search a table for a key with this hash. *found is the index of the entry, if the status is FOUND. */
static inline int
table_lookup(const KeyTable *table, PyObject *key, Py_hash_t hash, Py_ssize_t *found)
{
    size_t mask = ((size_t)1 << table->log2_size) - 1, rest = (size_t)hash, slot = rest & mask;
    const TextEntry *texts = table->kind == KEYS_OF_ANY_TYPE ? NULL : table_entries(table);
    Py_ssize_t at = table_entry(table, slot);
    if (at >= 0 && texts != NULL && texts[at].key == key) { /* nearly always */
        *found = at;
        return LOOKUP_FOUND;
    }
    for (; (at = table_entry(table, slot)) != NO_ENTRY; slot = (slot * 5 + (rest >>= PERTURB_BITS) + 1) & mask) {
        PyObject *held = at < 0 ? NULL : entry_key(table, at, hash); /* borrowed */
        int status = held == NULL ? LOOKUP_ABSENT : lookup_compare(held, key);
        if (status != LOOKUP_ABSENT) {
            *found = at;
            return status;
        }
    }
    return LOOKUP_ABSENT;
}

/* Search a dict for a key with this hash. *value is BORROWED; NULL unless the status is FOUND. */
static inline int
dict_lookup(PyObject *dict, PyObject *key, Py_hash_t hash, PyObject **value)
{
    const void *split = ((PyDictObject *)dict)->ma_values;
    const KeyTable *table = (const KeyTable *)((PyDictObject *)dict)->ma_keys;
    Py_ssize_t at;
    *value = NULL;
    int status = table_lookup(table, key, hash, &at);
    if (status != LOOKUP_FOUND) {
        return status;
    }
    *value = split != NULL                     ? split_values(split)[at]
             : table->kind == KEYS_OF_ANY_TYPE ? ((const KeyEntry *)table_entries(table))[at].value
                                               : ((const TextEntry *)table_entries(table))[at].value;
    return *value != NULL ? LOOKUP_FOUND : LOOKUP_ABSENT;
}

/* The number of entries in a dict's table, including deleted ones. */
static inline Py_ssize_t
dict_entries(PyObject *dict)
{
    return ((const KeyTable *)((PyDictObject *)dict)->ma_keys)->entries;
}

/* dict[key] = value, for a key with this hash; 0, or -1 with an exception set. */
static inline int
dict_set(PyObject *dict, PyObject *key, PyObject *value, Py_hash_t hash)
{
    return PyDict_SetItem(dict, key, value);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* deprecated from 3.12 on; it exists up to 3.13 */

/* A number that changes with each change of the dict, and from 3.12 on when a watcher is added or removed. */
static inline uint64_t
dict_version(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_version_tag;
}

#pragma GCC diagnostic pop

#endif
