/* Key tables of dicts in CPython 3.7 to 3.10. Part of lookup_inl.h. */
#ifndef PIJIT_GUARDS_DICT_KEYS_37_310_INL_H
#define PIJIT_GUARDS_DICT_KEYS_37_310_INL_H

#include "lookup/compare_keys_inl.h"

/* struct _dictkeysobject, which no header of Python declares. */
typedef struct {
    Py_ssize_t references;
    Py_ssize_t size;
    void *lookup;
    Py_ssize_t usable;
    Py_ssize_t entries;
    char indices[];
} KeyTable;

typedef struct {
    Py_hash_t hash;
    PyObject *key;
    PyObject *value;
} KeyEntry;

static inline Py_ssize_t
table_entry(const KeyTable *table, size_t slot)
{
    if (table->size <= 0xff) {
        return ((const int8_t *)table->indices)[slot];
    }
    if (table->size <= 0xffff) {
        return ((const int16_t *)table->indices)[slot];
    }
    return table->size <= 0xffffffffLL ? ((const int32_t *)table->indices)[slot]
                                       : (Py_ssize_t)((const int64_t *)table->indices)[slot];
}

static inline size_t
index_bytes(const KeyTable *table)
{
    return table->size <= 0xff ? 1 : table->size <= 0xffff ? 2 : table->size <= 0xffffffffLL ? 4 : 8;
}

/* Search a dict for a key with this hash. *value is BORROWED; NULL unless the status is FOUND. */
static inline int
dict_lookup(PyObject *dict, PyObject *key, Py_hash_t hash, PyObject **value)
{
    PyObject **split = ((PyDictObject *)dict)->ma_values;
    const KeyTable *table = (const KeyTable *)((PyDictObject *)dict)->ma_keys;
    const KeyEntry *entries = (const KeyEntry *)(table->indices + (size_t)table->size * index_bytes(table));
    size_t mask = (size_t)table->size - 1, rest = (size_t)hash, slot = rest & mask;
    Py_ssize_t at;
    *value = NULL;
    for (; (at = table_entry(table, slot)) != NO_ENTRY; slot = (slot * 5 + (rest >>= PERTURB_BITS) + 1) & mask) {
        if (at < 0 || entries[at].hash != hash) {
            continue;
        }
        int status = lookup_compare(entries[at].key, key);
        if (status == LOOKUP_FOUND) {
            *value = split != NULL ? split[at] : entries[at].value;
            return *value != NULL ? LOOKUP_FOUND : LOOKUP_ABSENT;
        }
        if (status != LOOKUP_ABSENT) {
            return status;
        }
    }
    return LOOKUP_ABSENT;
}

/* The number of entries in a dict's table, including deleted ones. */
static inline Py_ssize_t
dict_entries(PyObject *dict)
{
    return ((const KeyTable *)((PyDictObject *)dict)->ma_keys)->entries;
}

/* A number that changes with each change of the dict. */
static inline uint64_t
dict_version(PyObject *dict)
{
    return ((PyDictObject *)dict)->ma_version_tag;
}

/* dict[key] = value, for a key with this hash; 0, or -1 with an exception set. */
static inline int
dict_set(PyObject *dict, PyObject *key, PyObject *value, Py_hash_t hash)
{
    return _PyDict_SetItem_KnownHash(dict, key, value, hash);
}

#endif
