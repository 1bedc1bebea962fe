/* Callees: functions that linked code calls and that are compiled on their own for such calls, on all versions. */
#ifndef PIJIT_FUNCTION_CALLEES_H
#define PIJIT_FUNCTION_CALLEES_H

#include "cpython/vectorcall/vectorcall_slot_inl.h"
#include "function/dispatch.h"

#define IDLE_LIMIT 64

typedef struct {
    PyObject_HEAD
    unsigned long long serial; /* of the code object */
    PyObject *cache;           /* owned */
    PyObject *on_miss;         /* owned */
    PyObject *on_idle;         /* owned; called without arguments when `idle` reaches the limit */
    int idle;                  /* the number of runs of the original in a row; final at IDLE_LIMIT */
} Callee;

typedef struct {
    PyObject_HEAD
    VECTORCALL_FIELD
    PyObject *callees; /* owned; a tuple of Callees */
    PyObject *find;    /* owned; find(code, globals) returns a Callee or None; NULL: not open */
    int asked;         /* the number of calls of `find` */
    int in_vain;       /* the number of calls in a row that started no frame from the caller */
} CallSite;

int callee_is_idle(Callee *callee);

/* Call `find` with a function's code and globals: the Callee that the site knows from now on, owned; NULL: none. */
Callee *site_ask(CallSite *site, PyCodeObject *code, PyObject *globals);

extern PyTypeObject Callee_Type;

/* call_site.c of hook or hidden, from CPython 3.8 on: the vectorcall of a CallSite. NEW reference, or NULL with an
 * exception set. */
PyObject *site_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names);

PyObject *site_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
void site_dealloc(CallSite *self);
PyObject *site_get_open(CallSite *self, void *Py_UNUSED(closure));

#endif
