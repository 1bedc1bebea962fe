/* The state of the frame hook, and its installation. */
#ifndef PIJIT_HOOK_INSTALL_H
#define PIJIT_HOOK_INSTALL_H

#include "function/dispatch.h"

typedef struct {
    Py_ssize_t needs;   /* the hook is installed while positive */
    Py_ssize_t holds;   /* the part of `needs` that comes from hold() */
    int linked;         /* this hook was installed and has not been removed since */
    Evaluator previous; /* the evaluator of frames that are not handled here; valid while linked */
    PyObject *filter;   /* owned; NULL: none */
    unsigned long long filter_serial;
    Py_ssize_t frames;
} HookState;

extern HookState hook;

typedef struct {
    HookCall *calls;       /* JitFunction calls whose frame has not been seen yet, innermost first */
    PyObject *site;        /* owned; the CallSite that waits for the next frame; NULL: none */
    PyFrameObject *caller; /* never dereferenced; the frame that called the last site */
} HookThread;

extern __thread HookThread here;

void hook_acquire(void);
void hook_drop(void);

#endif
