/* Shadow frames: run another code object - the payload - on the locals of a frame that has not started. */
#ifndef PIJIT_HOOK_SHADOW_FRAME_H
#define PIJIT_HOOK_SHADOW_FRAME_H

#include "function/dispatch.h"

/* A call that runs in a shadow frame on this thread. It is on the C stack. */
typedef struct ShadowRun {
    PyFrameObject *frame; /* owned */
    PyCodeObject *code;   /* borrowed: the original */
    int moves;            /* the number of moves of this call to newer code */
    struct ShadowRun *before, *after;
} ShadowRun;

extern __thread ShadowRun *shadow_runs; /* the newest first */

/* The value that linked code returns to resume in newer linked code. Private: no program ever sees one. */
typedef struct {
    PyObject_HEAD
    PyCodeObject *code;  /* owned; it fits the original */
    Py_ssize_t from, to; /* the local that holds the operand stack, in the old code and in the new */
} Move;

/* A NEW frame for code that fits. It is not tracked: as in CPython's own calls, a frame is tracked only if it
 * outlives its run. If `builtins` is NULL it has those that CPython finds. NULL with an exception set. */
PyFrameObject *shadow_new(PyThreadState *tstate, PyCodeObject *payload, PyObject *globals, PyObject *locals,
                          PyObject *builtins);

/* Move the slots of a call of `code` to a frame; `nlocals` locals are before the cells. They are not copied: `del x`
 * in the function must free x, and reference counts are visible to NumPy. */
void shadow_take(PyFrameObject *shadow, PyObject **slots, Py_ssize_t nlocals, PyCodeObject *code);

/* As shadow_new, but reuses a frame that shadow_rest has kept. */
void shadow_again(PyThreadState *tstate, PyFrameObject *shadow, PyObject *globals, PyObject *builtins);

/* Empty a frame that has run and that has no other references; keep it in *pooled for the next call of its code. */
void shadow_rest(PyThreadState *tstate, PyFrameObject *shadow, PyFrameObject **pooled);

/* Release a shadow frame that has run. */
void shadow_free(PyThreadState *tstate, PyFrameObject *shadow);

/* Run a frame, whose reference is taken over, for a call of `code`. NEW reference, or NULL with an exception set. */
PyObject *shadow_run(PyThreadState *tstate, PyFrameObject *shadow, PyCodeObject *code);

/* Run a payload that fits on the locals of a frame that has not started. NEW reference, or NULL with an exception
 * set. */
PyObject *shadow_evaluate(PyThreadState *tstate, PyFrameObject *frame, PyCodeObject *payload);

#endif
