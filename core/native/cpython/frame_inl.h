/* Frames up to CPython 3.10, shared by the C files of pijit.core._hook.
 *
 * It declares the frame interface, with one implementation per CPython family, and the hook interface for JitFunction.
 *
 *     calls.c  --->  dispatch.c  --->  hook.c  --->  frame_37_38.c | frame_39_310.c
 *
 * hook.c must not depend on the CPython version. A frame_*.c only implements the operations below for its versions. */
#ifndef PIJIT_CPYTHON_FRAME_INL_H
#define PIJIT_CPYTHON_FRAME_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include "cpython/untraced_call_inl.h"

/* A PEP 523 frame evaluator. The real signature differs by version, so a pointer is only stored, compared and passed
 * back. */
typedef void (*Evaluator)(void);

/* frame_*.c: CPython's own evaluator. */
Evaluator evaluator_default(void);

/* frame_*.c: the evaluator that forwards each frame to hook_evaluate. */
Evaluator evaluator_hook(void);

/* frame_*.c: the evaluator that is installed in the current interpreter. */
Evaluator evaluator_get(void);

/* frame_*.c: install an evaluator in the current interpreter. */
void evaluator_set(Evaluator evaluator);

/* frame_*.c: run a frame. Returns a NEW reference, or NULL with an exception set. */
PyObject *evaluator_call(Evaluator evaluator, PyThreadState *tstate, PyFrameObject *frame, int throwflag);

/* Whether sys.settrace or sys.setprofile is active on a thread. */
static inline int
thread_is_traced(PyThreadState *tstate)
{
    return *thread_tracing(tstate);
}

/* Whether a tracer or a profiler observes calls of this code object. */
static inline int
code_is_observed(PyThreadState *tstate, PyCodeObject *Py_UNUSED(code))
{
    return thread_is_traced(tstate);
}

static inline int
interpreter_ends(void)
{
    return _Py_IsFinalizing();
}

/* The number of recursion levels that are reserved for on_miss. */
#define CAPTURE_DEPTH 400

/* Whether the recursion limit leaves room for a capture. */
static inline int
thread_has_room(PyThreadState *tstate)
{
    return Py_GetRecursionLimit() - tstate->recursion_depth >= CAPTURE_DEPTH;
}

/* Undo around a call that tp_call makes the recursion level that its caller has counted: a call of the function itself
 * would not cost one. */
static inline void
thread_refund_call(PyThreadState *tstate)
{
    tstate->recursion_depth--;
}

static inline void
thread_charge_call(PyThreadState *tstate)
{
    tstate->recursion_depth++;
}

/* CPython's operations on code extras. */
static inline Py_ssize_t
code_extra_request(freefunc end)
{
    return _PyEval_RequestCodeExtraIndex(end);
}

static inline int
code_extra_read(PyCodeObject *code, Py_ssize_t index, void **extra)
{
    return _PyCode_GetExtra((PyObject *)code, index, extra);
}

static inline int
code_extra_write(PyCodeObject *code, Py_ssize_t index, void *extra)
{
    return _PyCode_SetExtra((PyObject *)code, index, extra);
}

/* Let a frame that has not started begin after the instruction at offset `last`. Moves `items` to its operand stack;
 * the first item is the top of the stack. */
static inline void
frame_begin_after(PyFrameObject *frame, Py_ssize_t last, PyObject *const *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        frame->f_valuestack[i] = items[count - 1 - i];
    }
#if PY_VERSION_HEX >= 0x030a0000
    frame->f_stackdepth = (int)count;
    frame->f_lasti = (int)(last / (Py_ssize_t)sizeof(_Py_CODEUNIT));
#else
    frame->f_stacktop = frame->f_valuestack + count;
    frame->f_lasti = (int)last;
#endif
}

/* frame_*.c: the builtins that a frame of the function would have, borrowed; NULL if only CPython can find them. */
PyObject *function_builtins(PyThreadState *tstate, PyFunctionObject *function);

/* hook.c: decides how a frame runs. Returns a NEW reference, or NULL with an exception set. */
PyObject *hook_evaluate(PyThreadState *tstate, PyFrameObject *frame, int throwflag);

/* A call of a JitFunction that is under way and whose frame the hook has not seen yet. It is on the C stack. */
typedef struct HookCall {
    PyCodeObject *code;     /* borrowed from the function being called */
    struct HookCall *outer; /* the thread's calls under way, innermost first */
    int asked;              /* the outcome of the cache lookup for its frame: an Asked of dispatch.h */
} HookCall;

/* hook.c: announce a call on this thread and hold the hook for it. Never fails. */
void hook_call_begin(HookCall *call, PyCodeObject *code);

/* hook.c: end an announced call whether or not its frame was seen. Never fails. */
void hook_call_end(HookCall *call);

#endif
