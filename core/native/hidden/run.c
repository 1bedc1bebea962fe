/* Runs of linked code in hidden functions, from CPython 3.11 on.
 *
 * There is no frame hook. A call of a JitFunction asks the entry cache of the function's code (dispatch.c), and calls
 * a *hidden function* that has the linked code. The frame of that function is an ordinary one. It is the only frame
 * that tracebacks and sys._getframe see, with the function's names and lines. This code neither reads nor writes
 * CPython's frame structures.
 *
 *   tracing, profiling, monitoring, generators, a disabled thread   ->  the function itself, always
 *   an internal error (a bad payload)                               ->  the function itself, and a report
 *   an exception from on_miss                                       ->  raised in the caller of the function
 *
 * A *record* on the thread's list stands for each run of a hidden function. Code that starts in the middle of the
 * function begins with a call of `arrive`. That returns the values that the newest record has for it. Launchers ask for
 * that record as well: it tells whether the answer that a kernel has left is for them (hand_over.c).
 *
 * All state belongs to the process and is guarded by the GIL, except `here`, which belongs to the thread. */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/marks_inl.h"
#include "hidden/code_variables.h"
#include "hidden/code_variables_inl.h"
#include "hidden/family_extra.h"
#include "hidden/hidden.h"
#include "hidden/thread_runs.h"
#include <stddef.h>

__thread ThreadRuns here = {NULL, STACK_UNKNOWN};

void
family_extra_clear(FamilyExtra *extra)
{
    shape_clear(extra);
}

/* The number of recursion levels that are reserved for on_miss. */
#define CAPTURE_DEPTH 400

int
stack_ends(void)
{
    if (!stack_is_low(&here.stack, (uintptr_t)__builtin_frame_address(0))) {
        return 0;
    }
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
    return 1;
}

int
thread_has_room(PyThreadState *tstate)
{
    uintptr_t address = (uintptr_t)__builtin_frame_address(0);
    return thread_levels_left(tstate) >= CAPTURE_DEPTH && !stack_is_low(&here.stack, address)
           && (address >= here.stack.room || address < here.stack.low);
}

int
hook_mark_of(PyThreadState *tstate, PyCodeObject *code, Mark *mark, const Shape **shape)
{
    if (thread_is_off() || (code->co_flags & GENERATOR_FLAGS) || thread_is_traced(tstate)) {
        return 0;
    }
    CodeExtra *extra = code_extra_get(code);
    if (extra == NULL || extra->on_miss == NULL || code_is_monitored(tstate, code)) {
        return 0;
    }
    *shape = shape_in(extra, code);
    if (*shape == NULL) {
        PyErr_Clear(); /* out of memory: the function itself can still be called */
        return 0;
    }
    mark->guards = marks.guards;
    mark->cache = extra->cache;
    mark->on_miss = extra->on_miss;
    return 1;
}
