/* Shadow frames, for hook.c alone: running another code object - the payload - on the locals of a frame that
 * has not started. All fields used here are the same on CPython 3.7 to 3.10.
 *
 * A payload has the arguments, flags, cell and free variables of the original code, and its locals first; it
 * may have more locals after them. So the slots of the two frames agree but for a gap before the cells:
 *
 *     original:  locals | cells | free            payload:  locals | more locals | cells | free
 *
 * An argument that is a cell was moved into its cell when the frame was made: its local slot is NULL, and the
 * cell object itself is handed on, so closures made earlier or later share it. */
#ifndef PIJIT_CORE_SHADOW_H
#define PIJIT_CORE_SHADOW_H

#include "frame.h"

/* Whether a tuple of names starts with (`exact`: equals) another. */
static int
names_start_with(PyObject *names, PyObject *prefix, int exact)
{
    Py_ssize_t count = PyTuple_GET_SIZE(prefix);
    if (PyTuple_GET_SIZE(names) < count || (exact && PyTuple_GET_SIZE(names) != count)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *wanted = PyTuple_GET_ITEM(prefix, i);  /* borrowed */
        if (name != wanted && PyUnicode_Compare(name, wanted) != 0) {
            return 0;
        }
    }
    return 1;
}

/* Why a payload cannot run on the locals of a code object's frame, or NULL if it can. */
static const char *
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

/* Move `count` references to slots that are NULL. */
static void
slots_move(PyObject **to, PyObject **from, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        to[i] = from[i];
        from[i] = NULL;
    }
}

/* Make `*slot` own `value`, which may be NULL. */
static void
slot_set(PyObject **slot, PyObject *value)
{
    PyObject *old = *slot;
    Py_XINCREF(value);
    *slot = value;
    Py_XDECREF(old);
}

/* Run a payload that fits on the locals of a frame that has not started. NEW reference, or NULL with an
 * exception. */
static PyObject *
shadow_evaluate(PyThreadState *tstate, PyFrameObject *frame, PyCodeObject *payload)
{
    PyCodeObject *code = frame->f_code;  /* borrowed from the frame */
    PyFrameObject *shadow = PyFrame_New(tstate, payload, frame->f_globals, frame->f_locals);  /* owned */
    if (shadow == NULL) {
        return NULL;
    }
    /* As in CPython's own calls: a frame is tracked only if it outlives its run. */
    PyObject_GC_UnTrack(shadow);
    /* PyFrame_New looks builtins up by globals; 3.10's functions have had theirs since they were made. */
    slot_set(&shadow->f_builtins, frame->f_builtins);
    /* Moved, not copied: `del x` in the function must free x, and reference counts are visible to NumPy. */
    slots_move(shadow->f_localsplus, frame->f_localsplus, code->co_nlocals);
    slots_move(shadow->f_localsplus + payload->co_nlocals, frame->f_localsplus + code->co_nlocals,
               PyTuple_GET_SIZE(code->co_cellvars) + PyTuple_GET_SIZE(code->co_freevars));
    PyObject *result = evaluator_call(evaluator_default(), tstate, shadow, 0);  /* owned, given away */
    if (Py_REFCNT(shadow) > 1) {
        Py_DECREF(shadow);
        PyObject_GC_Track(shadow);
    }
    else {
        /* As CPython does: destructors that the frame's locals run start one level deeper. */
        ++tstate->recursion_depth;
        Py_DECREF(shadow);
        --tstate->recursion_depth;
    }
    return result;
}

#endif
