/* Shadow frames: run another code object - the payload - on the locals of a frame that has not started.
 *
 * All fields used here are the same on CPython 3.7 to 3.10. A payload has the arguments, flags, cell
 * and free variables of the original code. It begins with the original's locals and may have more after them. So the
 * slots of the two frames agree, except for a gap before the cells:
 *
 *     original:  locals | cells | free            payload:  locals | more locals | cells | free
 *
 * CPython has moved an argument that is a cell into its cell when it made the frame. Its local slot is NULL. The cell
 * object itself is handed on, so closures made earlier or later share it. */
#include "hook/shadow_frame.h"
#include "cpython/frame_inl.h"
#include "function/dispatch.h"
#include "function/marks/code_marks.h"
#include "function/marks/code_marks_inl.h"
#include "hook/osr.h"
#include "hook/shadow_frame_inl.h"

/* The reason why a payload cannot run on the locals of a code object's frame, or NULL if it can. */
const char *
code_why_not_linked(PyCodeObject *code, PyCodeObject *payload)
{
    if (payload->co_argcount != code->co_argcount || payload->co_kwonlyargcount != code->co_kwonlyargcount) {
        return "its argument counts differ";
    }
    if (payload->co_flags != code->co_flags) {
        return "its flags differ";
    }
    if (!names_start_with(payload->co_varnames, code->co_varnames, 0)) {
        return "its locals do not start with the locals of the original";
    }
    if (!names_start_with(payload->co_cellvars, code->co_cellvars, 1)) {
        return "its cell variables differ";
    }
    if (!names_start_with(payload->co_freevars, code->co_freevars, 1)) {
        return "its free variables differ";
    }
    return NULL;
}

__thread ShadowRun *shadow_runs;

static void
shadow_runs_add(ShadowRun *run)
{
    run->after = shadow_runs;
    if (run->after != NULL) {
        run->after->before = run;
    }
    shadow_runs = run;
}

/* Removes any run, not only the newest: libraries that switch C stacks end calls in any order. */
static void
shadow_runs_remove(ShadowRun *run)
{
    *(run->before != NULL ? &run->before->after : &shadow_runs) = run->after;
    if (run->after != NULL) {
        run->after->before = run->before;
    }
}

PyFrameObject *
shadow_new(PyThreadState *tstate, PyCodeObject *payload, PyObject *globals, PyObject *locals, PyObject *builtins)
{
    PyFrameObject *shadow = PyFrame_New(tstate, payload, globals, locals); /* owned */
    if (shadow != NULL) {
        PyObject_GC_UnTrack(shadow);
        /* PyFrame_New finds builtins by globals; functions of 3.10 store theirs when they are made. */
        if (builtins != NULL) {
            slot_set(&shadow->f_builtins, builtins);
        }
    }
    return shadow;
}

void
shadow_take(PyFrameObject *shadow, PyObject **slots, Py_ssize_t nlocals, PyCodeObject *code)
{
    slots_move(shadow->f_localsplus, slots, code->co_nlocals);
    slots_move(shadow->f_localsplus + shadow->f_code->co_nlocals, slots + nlocals,
               PyTuple_GET_SIZE(code->co_cellvars) + PyTuple_GET_SIZE(code->co_freevars));
}

void
shadow_again(PyThreadState *tstate, PyFrameObject *shadow, PyObject *globals, PyObject *builtins)
{
    slot_set(&shadow->f_globals, globals);
    slot_set(&shadow->f_builtins, builtins);
    Py_XINCREF(tstate->frame);
    shadow->f_back = tstate->frame;
    shadow->f_lasti = -1;
    shadow->f_iblock = 0;
    shadow->f_trace_lines = 1;
    shadow->f_trace_opcodes = 0;
#if PY_VERSION_HEX >= 0x030a0000
    shadow->f_lineno = 0;
    shadow->f_stackdepth = 0;
    shadow->f_state = FRAME_CREATED;
#else
    shadow->f_lineno = shadow->f_code->co_firstlineno;
    shadow->f_stacktop = shadow->f_valuestack;
    shadow->f_executing = 0;
#endif
}

void
shadow_rest(PyThreadState *tstate, PyFrameObject *shadow, PyFrameObject **pooled)
{
    ++tstate->recursion_depth;
    for (PyObject **slot = shadow->f_localsplus; slot < shadow->f_valuestack; slot++) {
        Py_CLEAR(*slot);
    }
    Py_CLEAR(shadow->f_locals);
    Py_CLEAR(shadow->f_trace);
    Py_CLEAR(shadow->f_back);
    slot_set(&shadow->f_globals, Py_None);
    slot_set(&shadow->f_builtins, Py_None);
    if (*pooled == NULL) {
        *pooled = shadow;
    }
    else {
        Py_DECREF(shadow);
    }
    --tstate->recursion_depth;
}

void
shadow_free(PyThreadState *tstate, PyFrameObject *shadow)
{
    if (Py_REFCNT(shadow) > 1) {
        Py_DECREF(shadow);
        PyObject_GC_Track(shadow);
    }
    else {
        /* As in CPython: finalizers of the frame's locals start one level deeper. */
        ++tstate->recursion_depth;
        Py_DECREF(shadow);
        --tstate->recursion_depth;
    }
}

/* Resume in the code of a Move: 1, or 0 with an exception set. */
static int
shadow_move(PyThreadState *tstate, ShadowRun *run, Move *move)
{
    PyFrameObject *old = run->frame; /* owned */
    /* owned, then the run's */
    PyFrameObject *shadow = shadow_new(tstate, move->code, old->f_globals, old->f_locals, old->f_builtins);
    if (shadow == NULL) {
        return 0;
    }
    shadow_take(shadow, old->f_localsplus, old->f_code->co_nlocals, run->code);
    slots_move(shadow->f_localsplus + move->to, old->f_localsplus + move->from, 1);
    /* All calls of locals() during one call return the same dict. */
    slot_set(&shadow->f_locals, NULL);
    slots_move(&shadow->f_locals, &old->f_locals, 1);
    run->frame = shadow;
    run->moves++;
    shadow_free(tstate, old);
    return 1;
}

PyObject *
shadow_run(PyThreadState *tstate, PyFrameObject *shadow, PyCodeObject *code)
{
    ShadowRun run = {shadow, code, 0, NULL, NULL};
    shadow_runs_add(&run);
    PyObject *result = evaluator_call(evaluator_default(), tstate, run.frame, 0); /* owned, given away */
    while (result != NULL && Py_TYPE(result) == &Move_Type) {
        int moved = shadow_move(tstate, &run, (Move *)result);
        Py_DECREF(result);
        result = moved ? evaluator_call(evaluator_default(), tstate, run.frame, 0) : NULL;
    }
    shadow_runs_remove(&run);
    shadow_free(tstate, run.frame);
    return result;
}

PyObject *
shadow_evaluate(PyThreadState *tstate, PyFrameObject *frame, PyCodeObject *payload)
{
    /* owned, then the run's */
    PyFrameObject *shadow = shadow_new(tstate, payload, frame->f_globals, frame->f_locals, frame->f_builtins);
    if (shadow == NULL) {
        return NULL;
    }
    shadow_take(shadow, frame->f_localsplus, frame->f_code->co_nlocals, frame->f_code);
    return shadow_run(tstate, shadow, frame->f_code);
}
