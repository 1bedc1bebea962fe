/* The state of the frame hook, and its installation. Part of hook.c.
 *
 * All state belongs to the process and is guarded by the GIL, except `here`, which belongs to the thread. */
#ifndef PIJIT_CORE_HOOK_INSTALL_H
#define PIJIT_CORE_HOOK_INSTALL_H

#include "hook/hooked.h"

static struct {
    Py_ssize_t needs;   /* the hook is installed while positive */
    Py_ssize_t holds;   /* the part of `needs` that comes from hold() */
    int linked;         /* this hook was installed and has not been removed since */
    Evaluator previous; /* the evaluator of frames that are not handled here; valid while linked */
    PyObject *filter;   /* owned; NULL: none */
    unsigned long long filter_serial;
    Py_ssize_t frames;
} hook;

static __thread struct {
    HookCall *calls;       /* JitFunction calls whose frame has not been seen yet, innermost first */
    PyObject *site;        /* owned; the CallSite that waits for the next frame; NULL: none */
    PyFrameObject *caller; /* never dereferenced; the frame that called the last site */
} here;

static void
hook_acquire(void)
{
    hook.needs++;
    Evaluator current = evaluator_get();
    if (current == evaluator_hook()) {
        return;
    }
    /* Another hook was installed over this one and calls it: installing this one over it would make an endless loop. */
    if (hook.linked && current != evaluator_default()) {
        return;
    }
    hook.previous = current;
    hook.linked = 1;
    evaluator_set(evaluator_hook());
}

static void
hook_drop(void)
{
    if (--hook.needs > 0 || evaluator_get() != evaluator_hook()) {
        return;
    }
    evaluator_set(hook.previous);
    hook.linked = 0;
}

#endif
