/* C interface of pijit.guards._evaluate: guard programs and entry caches for other extension modules.
 *
 * A client imports the struct once (capsule_inl.h):
 *
 *     static const GuardsAPI *guards_api;
 *     ...
 *     guards_api = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION);
 *     if (guards_api == NULL) goto error;                   // ImportError is set
 *
 * `values` is the root array of an evaluation: the frame's localsplus at entry for an entry, the call arguments for a
 * segment's launcher. Items are borrowed and may be NULL (an unbound local). `globals` and `builtins` are the frame's
 * dicts, borrowed. If one is NULL or not a dict, lookups there fail like absent names.
 *
 * All functions require the GIL, are called without an exception set, and set none. */
#ifndef PIJIT_GUARDS_EVALUATE_H
#define PIJIT_GUARDS_EVALUATE_H

#define PY_SSIZE_T_CLEAN
#include "checks/local_checks.h"
#include <Python.h>

#define GUARDS_API_VERSION 6
#define GUARDS_MODULE "pijit.guards._evaluate"
#define GUARDS_API_CAPSULE GUARDS_MODULE "._C_API"

/* The values that a lookup fetches by the program that holds: `count` NEW references if there is room for all of them.
 * Else, and on a miss, `count` stays -1. */
typedef struct {
    PyObject **items;
    Py_ssize_t room, count;
} Fetched;

typedef struct {
    /* GUARDS_API_VERSION of the provider. */
    int version;

    /* 1: all guards hold; fetched[i] is a NEW reference for each of the program's fetch sources, in order.
     * 0: a guard failed or a source was absent; nothing was stored in `fetched`.
     * `fetched` has room for program_fetch_count(program) items; it may be NULL if that is 0. */
    int (*program_check)(PyObject *program, PyObject *const *values, Py_ssize_t nvalues, PyObject *globals, PyObject *builtins,
                         PyObject **fetched);

    /* The number of fetch sources of a program. */
    Py_ssize_t (*program_fetch_count)(PyObject *program);

    /* Whether a program looks in the globals or builtins; else program_check may get NULL for them. */
    int (*program_is_scoped)(PyObject *program);

    /* The program as local checks, borrowed from it; NULL if it looks at more than the types and layouts of roots. */
    const LocalChecks *(*program_local_checks)(PyObject *program);

    /* Whether `ask` returns true for a code object that a guard of a program compares with. */
    int (*program_has_code)(PyObject *program, int (*ask)(PyCodeObject *code));

    /* A NEW reference to the payload of the first entry whose guards hold; NULL (no exception) on a miss. `fetched` may
     * be NULL. */
    PyObject *(*cache_lookup)(PyObject *cache, PyObject *const *values, Py_ssize_t nvalues, PyObject *globals,
                              PyObject *builtins, Fetched *fetched);

    /* The payload of entry `index`, borrowed, most recently hit first; NULL (no exception) after the last. */
    PyObject *(*cache_payload)(PyObject *cache, Py_ssize_t index);

    /* Whether an object may be passed as `program` or `cache` above (subclasses included). */
    int (*is_program)(PyObject *object);
    int (*is_cache)(PyObject *object);
} GuardsAPI;

#endif
