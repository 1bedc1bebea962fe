/* The type EntryCache. */
#include "cache.h"
#include <string.h>
#include <structmember.h>

static PyObject *
cache_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"limit", NULL};
    Py_ssize_t limit;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "n:EntryCache", names, &limit)) {
        return NULL;
    }
    if (limit < 1 || limit > PY_SSIZE_T_MAX / (Py_ssize_t)sizeof(CacheEntry)) {
        PyErr_Format(PyExc_ValueError, "the limit of an entry cache must be at least 1, not %zd", limit);
        return NULL;
    }
    CacheObject *self = (CacheObject *)type->tp_alloc(type, 0); /* owned, zeroed */
    if (self == NULL) {
        return NULL;
    }
    self->limit = limit;
    self->entries = PyMem_Calloc((size_t)limit, sizeof(CacheEntry));
    if (self->entries == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static int
cache_traverse(CacheObject *self, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < self->size; i++) {
        Py_VISIT(self->entries[i].program);
        Py_VISIT(self->entries[i].payload);
    }
    return 0;
}

static int
cache_clear_entries(CacheObject *self)
{
    self->changes++;
    while (self->size > 0) {
        /* owned: the entry is removed before its references are dropped */
        CacheEntry last = self->entries[--self->size];
        Py_DECREF(last.program);
        Py_DECREF(last.payload);
    }
    return 0;
}

static void
cache_dealloc(CacheObject *self)
{
    PyObject_GC_UnTrack(self);
    cache_clear_entries(self);
    PyMem_Free(self->entries);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static Py_ssize_t
cache_find(const CacheObject *self, PyObject *program)
{
    for (Py_ssize_t i = 0; i < self->size; i++) {
        if ((PyObject *)self->entries[i].program == program) {
            return i;
        }
    }
    return -1;
}

/* Make an entry the first of its rank; returns its new index. */
static Py_ssize_t
cache_put_first(CacheObject *self, Py_ssize_t index)
{
    CacheEntry entry = self->entries[index];
    Py_ssize_t place = 0;
    while (self->entries[place].rank < entry.rank) {
        place++;
    }
    memmove(self->entries + place + 1, self->entries + place, (size_t)(index - place) * sizeof(CacheEntry));
    self->entries[place] = entry;
    return place;
}

/* Count a hit of an entry, and make it the first of its rank; returns the payload, borrowed. */
static PyObject *
cache_count_hit(CacheObject *self, Py_ssize_t index)
{
    Py_ssize_t place = index > 0 ? cache_put_first(self, index) : 0;
    self->changes += place != index;
    self->hits++;
    self->entries[place].hits++;
    return self->entries[place].payload;
}

/* Remove the entries that can never hit again. */
static void
cache_evict_dead(CacheObject *self)
{
    for (Py_ssize_t i = 0; i < self->size;) {
        if (!program_is_dead(self->entries[i].program)) {
            i++;
            continue;
        }
        /* owned: the entry is removed before its references are dropped, which may run code that changes the cache */
        CacheEntry dead = self->entries[i];
        self->changes++;
        self->size--;
        memmove(self->entries + i, self->entries + i + 1, (size_t)(self->size - i) * sizeof(CacheEntry));
        Py_DECREF(dead.program);
        Py_DECREF(dead.payload);
    }
}

PyObject *
cache_search(CacheObject *self, const Roots *roots, Fetched *fetched)
{
    Count changes = self->changes;
    for (Py_ssize_t i = 0; i < self->size; i++) {
        ProgramObject *program = self->entries[i].program; /* owned during the evaluation */
        Py_INCREF(program);
        Py_ssize_t count = fetched != NULL && program->nresults <= fetched->room ? program->nresults : -1;
        int passed = program_evaluate(program, roots, count >= 0 ? fetched->items : NULL);
        Py_DECREF(program);
        if (passed < 0) {
            return NULL;
        }
        if (self->changes != changes) {
            for (Py_ssize_t k = 0; passed && k < count; k++) {
                Py_DECREF(fetched->items[k]);
            }
            break;
        }
        if (passed) {
            if (fetched != NULL) {
                fetched->count = count;
            }
            PyObject *payload = cache_count_hit(self, i);
            Py_INCREF(payload);
            return payload;
        }
    }
    self->misses++;
    cache_evict_dead(self);
    return NULL;
}

static PyObject *
cache_add(CacheObject *self, PyObject *args)
{
    PyObject *program, *payload; /* borrowed */
    Py_ssize_t rank = 0;
    if (!PyArg_ParseTuple(args, "O!O|n:add", &ProgramType, &program, &payload, &rank)) {
        return NULL;
    }
    if (cache_find(self, program) >= 0) {
        PyErr_SetString(PyExc_ValueError, "the program is in this cache already: replace() changes its payload");
        return NULL;
    }
    cache_evict_dead(self);
    if (self->size == self->limit) {
        Py_RETURN_FALSE;
    }
    self->changes++;
    Py_INCREF(program);
    Py_INCREF(payload);
    self->entries[self->size++] = (CacheEntry){(ProgramObject *)program, payload, 0, rank};
    cache_put_first(self, self->size - 1);
    Py_RETURN_TRUE;
}

static PyObject *
cache_replace(CacheObject *self, PyObject *args)
{
    PyObject *program, *payload; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!O:replace", &ProgramType, &program, &payload)) {
        return NULL;
    }
    Py_ssize_t index = cache_find(self, program);
    if (index < 0) {
        Py_RETURN_FALSE;
    }
    PyObject *old = self->entries[index].payload; /* owned */
    Py_INCREF(payload);
    self->entries[index].payload = payload;
    Py_DECREF(old);
    Py_RETURN_TRUE;
}

static PyObject *
cache_clear(CacheObject *self, PyObject *unused)
{
    cache_clear_entries(self);
    Py_RETURN_NONE;
}

static PyObject *
cache_entries_get(CacheObject *self, void *unused)
{
    PyObject *rows = PyList_New(0); /* owned */
    Count changes = self->changes;
    for (Py_ssize_t i = 0; rows != NULL && i < self->size && self->changes == changes; i++) {
        /* owned: building the row may run the garbage collector, which may call clear() */
        CacheEntry entry = self->entries[i];
        Py_INCREF(entry.program);
        Py_INCREF(entry.payload);
        PyObject *row = Py_BuildValue("(NNK)", entry.program, entry.payload, entry.hits); /* owned */
        if (row == NULL || PyList_Append(rows, row) < 0) {
            Py_CLEAR(rows);
        }
        Py_XDECREF(row);
    }
    return rows;
}

static PyObject *
cache_full_get(CacheObject *self, void *unused)
{
    return PyBool_FromLong(self->size == self->limit);
}

static Py_ssize_t
cache_length(CacheObject *self)
{
    return self->size;
}

static PyObject *
cache_lookup(CacheObject *self, PyObject *args)
{
    Roots roots;
    PyObject *holder = roots_parse(args, &roots); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    PyObject *payload = cache_search(self, &roots, NULL); /* owned */
    if (payload == NULL && !PyErr_Occurred()) {
        Py_INCREF(Py_None);
        payload = Py_None;
    }
    roots_release(&roots, holder);
    return payload;
}

static PyMethodDef cache_methods[] = {
    {"add", (PyCFunction)cache_add, METH_VARARGS,
     "add(program, payload, rank=0) -> bool: a new entry, first of its rank; False, and nothing added, at the limit."},
    {"replace", (PyCFunction)cache_replace, METH_VARARGS,
     "replace(program, payload) -> bool: give an entry a new payload; False if the program is not here."},
    {"lookup", (PyCFunction)cache_lookup, METH_VARARGS,
     "lookup(values, globals, builtins) -> payload of the first entry whose guards hold, or None."},
    {"clear", (PyCFunction)cache_clear, METH_NOARGS, "clear() -> None: drop all entries; the counts stay."},
    {NULL},
};

static PyMemberDef cache_members[] = {
    {"limit", T_PYSSIZET, offsetof(CacheObject, limit), READONLY, "How many entries there may be."},
    {"hits", T_ULONGLONG, offsetof(CacheObject, hits), READONLY, "Lookups that found an entry."},
    {"misses", T_ULONGLONG, offsetof(CacheObject, misses), READONLY, "Lookups that found none."},
    {"warned", T_BOOL, offsetof(CacheObject, warned), 0, "Whether warn_limit has warned about this cache."},
    {NULL},
};

static PyGetSetDef cache_getset[] = {
    {"entries", (getter)cache_entries_get, NULL, "List of (program, payload, hits), as they are tried.", NULL},
    {"full", (getter)cache_full_get, NULL, "Whether the limit is reached.", NULL},
    {NULL},
};

static PySequenceMethods cache_as_sequence = {.sq_length = (lenfunc)cache_length};

PyTypeObject CacheType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.guards._evaluate.EntryCache",
    .tp_doc = "EntryCache(limit): at most `limit` entries of program and payload; of a rank, most recently hit first.",
    .tp_basicsize = sizeof(CacheObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = cache_new,
    .tp_dealloc = (destructor)cache_dealloc,
    .tp_traverse = (traverseproc)cache_traverse,
    .tp_clear = (inquiry)cache_clear_entries,
    .tp_methods = cache_methods,
    .tp_members = cache_members,
    .tp_getset = cache_getset,
    .tp_as_sequence = &cache_as_sequence,
};
