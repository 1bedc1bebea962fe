/* Calls of a JitFunction up to CPython 3.10: the interface between calls.c, dispatch.c and hook.c. */
#ifndef PIJIT_CORE_HOOKED_H
#define PIJIT_CORE_HOOKED_H

#include "cpython/frame_inl.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "launcher/launch_api.h"

typedef enum {
    DISPATCH_DONE,  /* the call is over: *result is a NEW reference, or NULL with an exception set */
    DISPATCH_PLAIN, /* the function is to run as it is */
    DISPATCH_HOOKED /* the call needs the frame hook */
} Dispatched;

/* dispatch.c: calls a function. `run` is filled; the caller ends it, for DISPATCH_PLAIN after the function has run. */
Dispatched dispatch_call(Pace *pace, PyFunctionObject *function, const Arguments *arguments, TimedRun *run, PyObject **result);

/* hook.c: whether a call of `code` on this thread goes through its mark. If so, *mark is set, and *held tells whether
 * the hook takes the frames of all callers. */
int hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, int *held);

/* The resume point in linked code after an exit of a kernel that ran before there was a frame. */
typedef struct {
    Py_ssize_t last;             /* the offset of the instruction before the resume point */
    Py_ssize_t nslots, stack;    /* the number of values for locals, and for the operand stack */
    Py_ssize_t slots[MOST_LEFT]; /* the local of each value; -1: none, drop the value */
} Landing;

/* hook.c: run linked code that fits on the slots of a call, which are moved to the frame. NEW reference, or NULL with
 * an exception set. */
PyObject *hook_run(const BoundCall *call, PyCodeObject *linked);

/* hook.c: as hook_run, for code without OSR checks. *pooled is a pooled frame of that code, owned, or NULL. With a landing
 * the frame begins there, and the values of `left` are moved to it. With `over`, the frame begins with the answer
 * that a kernel has left. `landing` and `over` may be NULL. */
PyObject *hook_enter(const BoundCall *call, PyCodeObject *linked, const Landing *landing, Left *left, HandOver *over,
                     PyFrameObject **pooled);

#endif
