/* Hidden functions: they run linked code from CPython 3.11 on. The interface of their C files.
 *
 *     calls.c  --->  dispatch.c  --->  run.c  --->  monitoring_*.c
 *
 * A hidden function has linked code, and everything else from the function of a JitFunction. CPython calls it like any
 * other function, with the arguments of the call. A record stands for each of its runs. */
#ifndef PIJIT_CORE_HIDDEN_H
#define PIJIT_CORE_HIDDEN_H

#include "cpython/thread_311_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "launcher/launch_api.h"

typedef enum {
    DISPATCH_DONE,  /* the call is over */
    DISPATCH_PLAIN, /* the function is to run as it is */
    DISPATCH_LINKED /* a hidden function is to run */
} Dispatched;

/* The record of one run of a hidden function. */
typedef struct RunRecord {
    struct RunRecord *older, *newer; /* the neighbours on the list of the thread, while it runs */
    struct RunRecord **list;         /* the head of that list */
    PyCodeObject *linked;            /* owned: the code that runs */
    PyObject *entrance;              /* owned: the Entrance through which it was found; NULL: none */
    PyCodeObject *code;              /* owned: the original */
    PyFunctionObject *hidden;        /* borrowed from record_run, while it runs */
    PyObject *payload;               /* owned: the tuple for `arrive`; NULL: none, or handed over already */
    int moves;                       /* the number of moves of this call to newer code */
    int leaves;                      /* whether a kernel ran first and has left an answer: `over` */
    HandOver over;
} RunRecord;

/* The names and numbers of a code object's variables. Slots are numbered locals first, then cells, then free
 * variables; a local that is a cell has two slots. */
typedef struct {
    PyObject *varnames, *cellvars, *freevars; /* owned; tuples; NULL: not read yet */
    PyObject *keywords;                       /* owned: a tuple of the names of keyword-only arguments */
    Py_ssize_t nlocals, ncells, nfree, nslots;
    Py_ssize_t *arguments; /* owned: for each cell the argument that lives in it; -1: none */
    PyObject **nones;      /* owned: for each argument except star arguments a borrowed None */
} Shape;

/* The outcome of asking for a call; `served_begin` (served_inl.h) fills it. */
typedef struct {
    RunRecord *record; /* owned; DISPATCH_LINKED: the run to start */
    PyObject *result;  /* owned; DISPATCH_DONE: the result of the call; NULL: an exception is set */
    TimedRun run;      /* to be ended after the call */
    int original;      /* whether the entry says that the function itself is to run */
} Served;

/* dispatch.c: the pooled hidden function of an Entrance, see hidden_functions.h. */
PyFunctionObject **entrance_pooled(PyObject *entrance);

/* dispatch.c: asks the entry cache of a function's code how a call runs. */
Dispatched dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, Served *served);

/* dispatch.c: the same for a known mark, whose references the caller owns, and the shape of the code. */
Dispatched dispatch_mark(PyThreadState *tstate, const Mark *mark, const Shape *shape, Pace *pace, PyFunctionObject *function,
                         const Arguments *arguments, Served *served);

/* code_variables.c: the shape of a code object, borrowed from it; NULL with an exception set. */
const Shape *shape_of(PyCodeObject *code);

/* run.c: whether a call of `code` on this thread goes through its mark; *mark and the code's shape are set if so. */
int hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, const Shape **shape);

/* run_records.c: a NEW record for linked code of an Entrance, or with `entrance` NULL of none. NULL with an exception
 * set. */
RunRecord *record_new(PyCodeObject *code, PyCodeObject *linked, PyObject *entrance);

/* run_records.c: run a record's linked code for a function. *kept is the list of the function's hidden functions; it is
 * made if it is NULL. If `kept` is NULL, the Entrance keeps one instead. The record is taken over. NEW reference, or
 * NULL with an exception set. */
PyObject *record_run(RunRecord *record, PyObject **kept, PyFunctionObject *function, PyObject *const *args, size_t nargsf,
                     PyObject *kwnames);

/* hidden_functions.c: release a pooled hidden function, or NULL. */
void hidden_end(PyFunctionObject *pooled);

/* run_records.c: the innermost run of linked code on this thread, or NULL. For launchers. */
const void *record_running(void);

/* run.c: whether the C stack of this thread is close to its end; then an exception is set. */
int stack_ends(void);

#endif
