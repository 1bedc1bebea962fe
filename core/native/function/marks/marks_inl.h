/* The state of all marks, and of threads that do not use them.
 *
 * All state belongs to the process and is guarded by the GIL, except `paused`, which belongs to the thread. */
#ifndef PIJIT_FUNCTION_MARKS_MARKS_INL_H
#define PIJIT_FUNCTION_MARKS_MARKS_INL_H

#include "evaluate.h"
#include "function/dispatch.h"

#define GENERATOR_FLAGS (CO_GENERATOR | CO_COROUTINE | CO_ITERABLE_COROUTINE | CO_ASYNC_GENERATOR)

typedef struct {
    Py_ssize_t extra_index;
    unsigned long long last_serial;
    const GuardsAPI *guards; /* NULL until the first mark with a cache */
    PyObject *error_handler; /* owned; NULL: sys.unraisablehook */
    int plain;               /* all threads run all code unchanged */
    int other_stance;        /* the stance is not the default one */
    Py_ssize_t pauses;       /* the sum of all threads' `disabled`; while it is 0, `paused` is not read */
    Py_ssize_t shadow_frames, hits, misses;
} Marks;

extern Marks marks;

typedef struct {
    Py_ssize_t disabled; /* nesting depth of disable() */
} Paused;

extern __thread Paused paused;

/* Run all code on this thread as if nothing were marked, until pause_end. */
static inline void
pause_begin(void)
{
    paused.disabled++;
    marks.pauses++;
}

static inline void
pause_end(void)
{
    paused.disabled--;
    marks.pauses--;
}

/* Whether this thread runs all code as if nothing were marked. */
static inline int
thread_is_off(void)
{
    return marks.plain || (marks.pauses > 0 && paused.disabled > 0);
}

#endif
