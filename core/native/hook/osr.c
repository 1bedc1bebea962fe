/* On-stack replacement, bounded: moves a running call to newer linked code.
 *
 * At a loop's header, linked code that still observes types asks an *OSR check* for an item, which is the cheapest call
 * in bytecode. Most visits get none, and the loop continues. After an item, linked code calls the OSR check. It returns
 * None; or a Move, if its `ask` has newer linked code. Then linked code stores its operand stack in a local and returns
 * the Move. shadow_evaluate resumes in a frame of the newer code, which begins at that header.
 *
 *   no shadow frame, tracing, MAX_MOVES reached         ->  None, without a call of `ask`
 *   another reference to the frame object exists        ->  None: its owner would see a frame without locals
 *   most visits, see osr_check.h                        ->  no item */
#include "hook/osr.h"
#include "function/dispatch.h"
#include "function/marks/code_marks.h"
#include "function/marks/marks_inl.h"
#include "hook/select_code.h"
#include "hook/shadow_frame.h"

static void
move_dealloc(Move *self)
{
    Py_DECREF(self->code);
    PyObject_Del(self);
}

PyTypeObject Move_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Move",
    .tp_basicsize = sizeof(Move),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = (destructor)move_dealloc,
};

/* The run that can move now, or NULL. */
static ShadowRun *
osr_check_run(PyThreadState *tstate)
{
    ShadowRun *run = shadow_runs;
    while (run != NULL && run->frame != tstate->frame) {
        run = run->after;
    }
    if (run == NULL || run->moves >= MAX_MOVES || thread_is_off() || thread_is_traced(tstate) || Py_REFCNT(run->frame) > 1
        || run->frame->f_trace != NULL) {
        return NULL;
    }
    return run;
}

/* The Move for the answer of `ask`, (code, local of the operand stack): NEW, or NULL with an exception set. */
static PyObject *
move_make(OsrCheck *self, ShadowRun *run, PyObject *answer)
{
    PyObject *code; /* borrowed */
    Py_ssize_t to;
    if (!PyArg_ParseTuple(answer, "O!n:osr_check", &PyCode_Type, &code, &to)) {
        return NULL;
    }
    if (to < run->code->co_nlocals || to >= ((PyCodeObject *)code)->co_nlocals || self->slot < run->code->co_nlocals
        || self->slot >= run->frame->f_code->co_nlocals || !marks_fit(run->code, (PyCodeObject *)code)) {
        PyErr_SetString(PyExc_ValueError, "the code object to go on in does not fit");
        return NULL;
    }
    Move *move = PyObject_New(Move, &Move_Type); /* owned, given away */
    if (move != NULL) {
        Py_INCREF(code);
        move->code = (PyCodeObject *)code;
        move->from = self->slot;
        move->to = to;
    }
    return (PyObject *)move;
}

PyObject *
osr_check_call(OsrCheck *self, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    PyThreadState *tstate = PyThreadState_Get();
    ShadowRun *run = osr_check_run(tstate);
    if (run == NULL || tstate->recursion_depth > Py_GetRecursionLimit() - CAPTURE_DEPTH) {
        Py_RETURN_NONE;
    }
    PyFrameObject *frame = run->frame;                                          /* borrowed: it runs */
    PyObject *slots = slots_list(frame->f_localsplus, frame_slot_count(frame)); /* owned */
    PyObject *visits = slots != NULL ? PyLong_FromSsize_t(self->visits) : NULL; /* owned */
    PyObject *answer = NULL;                                                    /* owned */
    if (visits != NULL) {
        pause_begin();
        answer = PyObject_CallFunctionObjArgs(self->ask, (PyObject *)run->code, slots, frame->f_globals, frame->f_builtins,
                                              visits, NULL);
        pause_end();
    }
    Py_XDECREF(slots);
    Py_XDECREF(visits);
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (answer == NULL || answer == Py_None) {
        return answer;
    }
    /* `ask` may have taken a reference to the frame, or have switched on tracing. */
    PyObject *move = osr_check_run(tstate) == run ? move_make(self, run, answer) : NULL; /* owned, given away */
    Py_DECREF(answer);
    if (move != NULL) {
        return move;
    }
    if (PyErr_Occurred()) {
        error_report(run->code);
    }
    Py_RETURN_NONE;
}

PyObject *
hook_osr_check(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *ask; /* borrowed */
    Py_ssize_t slot;
    if (!PyArg_ParseTuple(args, "On:osr_check", &ask, &slot)) {
        return NULL;
    }
    return osr_check_new(ask, slot);
}
