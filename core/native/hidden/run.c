/* Running linked code, from CPython 3.11 on: in hidden functions.
 *
 * There is no frame hook. A call of a JitFunction asks the entry cache of the function's code (dispatch.c), and calls a
 * *hidden function* that has the linked code. Its frame is an ordinary one: tracebacks and sys._getframe see it alone, with the
 * function's names and lines. Nothing of CPython's frames is read or written.
 *
 *   tracing, profiling, monitoring, generators, a disabled thread   ->  the function itself, always
 *   a fault of ours (a bad payload)                                 ->  the function itself, and a report
 *   an exception from on_miss                                       ->  the caller of the function gets it
 *
 * A *record* on the thread's list stands for each run of a hidden function. Code that does not begin where the function does
 * begins with a call of `arrive`, which hands over what the newest record has for it. Launchers ask for that record as well, to
 * know whether what a kernel has left is for them (hand_over.c).
 *
 * All state is process wide and guarded by the GIL. `here` alone belongs to the thread. */
#define _GNU_SOURCE  /* pthread_getattr_np */
#include "hidden/hidden.h"
#include <stddef.h>

typedef Shape FamilyExtra;

static void family_extra_clear(FamilyExtra *extra);

#include "function/code_marks.h"
#include "hidden/code_variables.h"
#include "cpython/stack_end.h"

static void
family_extra_clear(FamilyExtra *extra)
{
    shape_clear(extra);
}

/* How many levels of recursion are kept for on_miss. */
#define CAPTURE_DEPTH 400

static __thread struct {
    Record *newest;              /* the runs of hidden functions, the innermost first */
    StackBounds stack;
} here = {NULL, STACK_UNKNOWN};

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
        PyErr_Clear();  /* no memory is no reason not to call the function */
        return 0;
    }
    mark->guards = marks.guards;
    mark->cache = extra->cache;
    mark->on_miss = extra->on_miss;
    return 1;
}

#include "hidden/hidden_functions.h"
#include "hidden/run_records.h"
#include "hidden/continuation.h"
#include "hidden/call_site.h"
#include "hidden/osr.h"
#include "hidden/module.h"
