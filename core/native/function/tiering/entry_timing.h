/* A/B timing of entries against the original function: interface of entry_timing.c.
 *
 * dispatch.c, hook.c and jit_function.c use it. */
#ifndef PIJIT_FUNCTION_TIERING_ENTRY_TIMING_H
#define PIJIT_FUNCTION_TIERING_ENTRY_TIMING_H

#include "evaluate.h"
#include <stdint.h>

typedef enum {
    RUN_UNTIMED, /* the payload runs, and the run is not measured */
    RUN_KERNELS, /* the payload runs, and is measured */
    RUN_PLAIN    /* the original function runs, and is measured */
} RunSide;

/* A call that goes through an EntryTiming. */
typedef struct {
    PyObject *timing; /* owned from timing_begin to timing_end; NULL: nothing is measured */
    RunSide side;
    int64_t start; /* in ns */
} TimedRun;

extern PyTypeObject EntryTiming_Type;

/* entry_timing.c: the same as the functions of entry_timing_inl.h, for an EntryTiming or a run of one. */
PyObject *timing_subject(PyObject *timing);
void timing_start(TimedRun *run, PyObject *timing);
void timing_finish(TimedRun *run, int succeeded);

/* code_marks.c: call one of pijit's Python callables, while nothing is captured on this thread. Takes over `args`, a
 * tuple, or NULL with an exception set. Errors are reported as those of `code`. */
void paused_tell(PyObject *callable, PyObject *args, PyObject *code);

/* code_marks.c: as paused_tell, but returns the answer: a NEW reference, or NULL without an exception. */
PyObject *paused_call(PyObject *callable, PyObject *args, PyObject *code);

#endif
