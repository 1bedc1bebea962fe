/* Between function.c, dispatch.c and hook.c: calls of a JitFunction that need no help of the frame hook. */
#ifndef PIJIT_CORE_DISPATCH_H
#define PIJIT_CORE_DISPATCH_H

#include "frame.h"
#include "launch_api.h"
#include "trial.h"
#include "../../guards/native/evaluate.h"

/* The arguments of a call, all borrowed from the caller. */
typedef struct {
    PyObject *const *positional;
    Py_ssize_t npositional;
    PyObject *const *names;      /* of the keyword arguments */
    PyObject *const *values;     /* and what they are */
    Py_ssize_t nkeywords;
} Arguments;

/* After so many calls in a row for which nothing was worth a kernel only each of as many asks. */
#define PATIENCE 64

/* Where no entry served and none was made, the number of calls that do not ask doubles at most N times. */
#define MOST_DOUBLINGS 4

/* How often in a row a function had nothing compiled for its calls, the number of calls that need not ask again, and
 * how often that number has doubled. */
typedef struct {
    int in_vain;
    int rest;
    int doublings;
} Pace;

typedef enum {
    DISPATCH_DONE,               /* the call is over: *result is a NEW reference, or NULL with an exception set */
    DISPATCH_PLAIN,              /* the function is to run as it is */
    DISPATCH_HOOKED              /* the call needs the frame hook */
} Dispatched;

/* dispatch.c: calls a function. `run` is filled: the caller ends it, after the function where that is to run as it is. */
Dispatched dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, TrialRun *run,
                         PyObject **result);

/* dispatch.c: whether the entry that serves a call, and all others of its cache, say that nothing is worth a kernel. */
int dispatch_in_vain(const GuardsAPI *guards, PyObject *cache, PyObject *payload);

/* What came of asking the cache for a call. */
typedef enum {
    ASKED_WELL,                  /* compiled code serves the call */
    ASKED_IN_VAIN,               /* an entry serves that says that nothing is worth a kernel */
    ASKED_FOR_NOTHING            /* no entry serves, and none was made */
} Asked;

/* Note a call for which the cache was asked. */
static inline void
pace_note(Pace *pace, Asked asked)
{
    pace->in_vain = asked != ASKED_WELL ? pace->in_vain + 1 : 0;
    if (asked != ASKED_FOR_NOTHING) {
        pace->doublings = 0;
    }
    if (pace->in_vain >= PATIENCE) {
        pace->in_vain = PATIENCE - 1;
        pace->rest = (PATIENCE - 1) << pace->doublings;
        pace->doublings += asked == ASKED_FOR_NOTHING && pace->doublings < MOST_DOUBLINGS;
    }
}

/* dispatch.c: whether the guards of an entry of the cache hold for the arguments of a call. */
int dispatch_accepted(const GuardsAPI *guards, PyObject *cache, PyFunctionObject *function, const Arguments *arguments);

/* dispatch.c: set when the first Entrance or Trial is made. */
extern const LaunchAPI *launch_api;

/* dispatch.c: the code object in a payload of an entry cache, borrowed; other payloads are returned as they are. */
PyObject *payload_code(PyObject *payload);

/* dispatch.c: what an entry cache holds for linked code. */
extern PyTypeObject Entrance_Type;
int entrance_type_ready(void);

/* A call whose arguments are bound. */
typedef struct {
    PyFunctionObject *function;  /* borrowed */
    PyCodeObject *code;          /* borrowed: owned by dispatch_call, for the function may be given another */
    PyObject *builtins;          /* borrowed from what the function refers to */
    PyObject **slots;            /* the items are owned */
    Py_ssize_t nslots;
} BoundCall;

/* What a marked code object's calls go through, all borrowed. */
typedef struct {
    const GuardsAPI *guards;
    PyObject *cache;             /* NULL: none */
    PyObject *on_miss;
    int held;                    /* the hook takes frames whoever calls */
} Mark;

/* hook.c: whether a call of `code` on this thread goes through its mark; *mark is set if so. */
int hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark);

/* hook.c: what on_miss answers for the slots of a frame (locals, cells, free variables): a NEW reference, or NULL
 * with the exception of on_miss set. *asked is what came of it. */
PyObject *hook_ask(PyObject *on_miss, PyCodeObject *code, PyObject *const *slots, Py_ssize_t nslots,
                   PyObject *globals, PyObject *builtins, Asked *asked);

/* hook.c: a NEW reference to the code object that is to run for `payload`; NULL for the original, a payload that is
 * none of `code` being reported. */
PyCodeObject *hook_accept(PyCodeObject *code, PyObject *payload);

/* hook.c: whether linked code may run in place of a code object; a refusal is reported. */
int hook_fits(PyCodeObject *code, PyCodeObject *linked);

/* hook.c: count a call that an entry served, or that none did. */
void hook_count(int hit);

/* Where linked code goes on behind an exit of a kernel that ran before there was a frame. */
typedef struct {
    Py_ssize_t last;             /* the offset of the instruction before that */
    Py_ssize_t nslots, stack;    /* how many values are for locals, and for the operand stack */
    Py_ssize_t slots[MOST_LEFT]; /* the locals; -1: the value is for none */
} Landing;

/* hook.c: run linked code that fits on the slots of a call; they are moved to the frame. NEW reference, or NULL with an
 * exception. */
PyObject *hook_run(const BoundCall *call, PyCodeObject *linked);

/* hook.c: as hook_run, for code without movers; *spare is a frame of it that waits for its next call, owned, or NULL.
 * With a landing it begins there, and what was left is moved to the frame; with `over`, that is what a kernel has left to
 * say. Each may be NULL. */
PyObject *hook_enter(const BoundCall *call, PyCodeObject *linked, const Landing *landing, Left *left, HandOver *over,
                     PyFrameObject **spare);

#endif
