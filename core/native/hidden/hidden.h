/* Between jit_function.c, dispatch.c and run.c, from CPython 3.11 on: linked code runs in *hidden functions*.
 *
 *     jit_function.c, calls.h  --->  dispatch.c  --->  run.c  --->  monitoring_*.c
 *
 * A hidden function has linked code, and all else from the function that a JitFunction is about. CPython calls it like any other
 * function, with the arguments of the call. A record says that it runs. */
#ifndef PIJIT_CORE_HIDDEN_H
#define PIJIT_CORE_HIDDEN_H

#include "cpython/thread_311.h"
#include "function/dispatch.h"

typedef enum {
    DISPATCH_DONE,               /* the call is over */
    DISPATCH_PLAIN,              /* the function is to run as it is */
    DISPATCH_LINKED              /* a hidden function is to run */
} Dispatched;

/* A run of a hidden function. */
typedef struct Record {
    struct Record *older, *newer;    /* on the same thread, while it runs */
    struct Record **list;        /* where the thread has its newest one */
    PyCodeObject *linked;        /* owned: what runs */
    PyObject *entrance;          /* owned: the Entrance that it was found by; NULL: none */
    PyCodeObject *code;          /* owned: the original */
    PyFunctionObject *hidden;    /* borrowed from record_run, while it runs */
    PyObject *payload;           /* owned: what `arrive` hands over; NULL: nothing, or it did */
    int moves;                   /* how often the call has moved to newer code */
    int leaves;                  /* whether a kernel ran in front, and has something left to say: `over` */
    HandOver over;
} Record;

/* The names and the numbers of a code object's variables. Slots are numbered locals, then cells, then free variables; a local
 * that is a cell has two. */
typedef struct {
    PyObject *varnames, *cellvars, *freevars;  /* owned; tuples; NULL: nobody has asked yet */
    PyObject *keywords;          /* owned: a tuple of the names of keyword-only arguments */
    Py_ssize_t nlocals, ncells, nfree, nslots;
    Py_ssize_t *arguments;       /* owned: for each cell the argument that is in it; -1: none */
    PyObject **nones;            /* owned: None, borrowed, for each argument that is no star argument */
} Shape;

/* The arguments of a vectorcall. */
static inline Arguments
vector_arguments(PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    Arguments arguments = {args, nargs, NULL, args + nargs, 0};
    if (kwnames != NULL) {
        arguments.names = &PyTuple_GET_ITEM(kwnames, 0);
        arguments.nkeywords = PyTuple_GET_SIZE(kwnames);
    }
    return arguments;
}

/* What came of asking for a call; `served_begin` fills it. */
typedef struct {
    Record *record;              /* owned; DISPATCH_LINKED: what is to run */
    PyObject *result;            /* owned; DISPATCH_DONE: what the call returns; NULL: an exception is set */
    TrialRun run;                /* to be ended after the call */
    int original;                /* whether the entry says that the function is to run as it is */
} Served;

static inline void
served_begin(Served *served)
{
    served->record = NULL;
    served->result = NULL;
    served->run.trial = NULL;
    served->original = 0;
}

/* dispatch.c: the hidden function of an Entrance that waits for its next call, see hidden_functions.h. */
PyFunctionObject **entrance_spare(PyObject *entrance);

/* dispatch.c: asks the entry cache of a function's code for a call. */
Dispatched dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, Served *served);

/* dispatch.c: the same for a mark that is known, whose references are the caller's, and the shape of the code. */
Dispatched dispatch_mark(const Mark *mark, const Shape *shape, Pace *pace, PyFunctionObject *function,
                         const Arguments *arguments, Served *served);

/* run.c: the shape of a code object, borrowed from it; NULL with an exception set. */
const Shape *shape_of(PyCodeObject *code);

/* run.c: whether a call of `code` on this thread goes through its mark; *mark and the code's shape are set if so. */
int hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, const Shape **shape);

/* run.c: a NEW record for linked code, which an Entrance has, or none: NULL. NULL with an exception set. */
Record *record_new(PyCodeObject *code, PyCodeObject *linked, PyObject *entrance);

/* run.c: run a record's linked code for a function, whose hidden functions are in *kept, a list that is made when it is
 * NULL. Without `kept` the Entrance keeps one. The record is taken over. NEW reference, or NULL with an exception set. */
PyObject *record_run(Record *record, PyObject **kept, PyFunctionObject *function, PyObject *const *args, size_t nargsf,
                     PyObject *kwnames);

/* run.c: end a hidden function that waits, or NULL. */
void hidden_end(PyFunctionObject *spare);

/* run.c: the run of linked code that is the innermost one of this thread, or NULL. For launchers. */
const void *record_running(void);

/* run.c: whether the C stack of this thread is about to end; then an exception is set. */
int stack_ends(void);

#endif
