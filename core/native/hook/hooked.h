/* Between jit_function.c, dispatch.c and hook.c up to CPython 3.10: calls of a JitFunction with and without the frame hook. */
#ifndef PIJIT_CORE_HOOKED_H
#define PIJIT_CORE_HOOKED_H

#include "cpython/frame.h"
#include "function/dispatch.h"

typedef enum {
    DISPATCH_DONE,               /* the call is over: *result is a NEW reference, or NULL with an exception set */
    DISPATCH_PLAIN,              /* the function is to run as it is */
    DISPATCH_HOOKED              /* the call needs the frame hook */
} Dispatched;

/* dispatch.c: calls a function. `run` is filled: the caller ends it, after the function where that is to run as it is. */
Dispatched dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, TrialRun *run,
                         PyObject **result);

/* hook.c: whether a call of `code` on this thread goes through its mark; *mark is set if so, and *held says whether the hook
 * takes frames whoever calls. */
int hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, int *held);

/* Where linked code goes on after an exit of a kernel that ran before there was a frame. */
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
