/* Exits: the answer of a launcher after its kernel has left by an exit.
 *
 * Part of launch.c: all functions are static, for inlining into the hot path. */
#ifndef PIJIT_LAUNCHER_EXITS_INL_H
#define PIJIT_LAUNCHER_EXITS_INL_H

#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/answers.h"
#include "launcher/launcher.h"
#include "launcher/marshal_inl.h"

#define MOST_CAUSES 32767

/* The path of a call from linked code to the kernel is one function. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The caller's globals, and how the call has ended. */
typedef struct {
    PyObject *globals; /* borrowed; NULL: those of the calling frame */
    Left *left;        /* for a function without a frame; else NULL */
    int returned, landed;
} Caller;

/* The number of loop iterations of a re-entry before it left with this answer. */
static long long
iterations_of(const Exit *exit, PyObject *answer)
{
    if (exit->iterations < 0) {
        return 0;
    }
    PyObject *iterations = PyTuple_GET_ITEM(answer, PyTuple_GET_SIZE(answer) - exit->count + exit->iterations); /* borrowed */
    return PyLong_CheckExact(iterations) ? PyLong_AsLongLong(iterations) : 0;
}

/* Give an exit's values to the caller in `left`: a new reference to None, or NULL with an exception set. */
static PyObject *
exit_land(const Exit *exit, int64_t id, ValueSource *source, Left *left)
{
    for (left->count = 0; left->count < exit->count; left->count++) {
        left->values[left->count] = output_build(&exit->items[left->count], source);
        if (left->values[left->count] == NULL) {
            while (left->count > 0) {
                Py_DECREF(left->values[--left->count]);
            }
            return NULL;
        }
    }
    left->exit = id;
    Py_RETURN_NONE;
}

/* Count the cause of an exit. A cause whose counter cannot be allocated is not counted. */
static void
cause_count(Launcher *self, int64_t cause)
{
    if (cause > self->ncauses) {
        long long *causes = cause <= MOST_CAUSES ? PyMem_Realloc(self->causes, cause * sizeof(long long)) : NULL;
        if (causes == NULL) {
            return;
        }
        memset(causes + self->ncauses, 0, (cause - self->ncauses) * sizeof(long long));
        self->causes = causes;
        self->ncauses = cause;
    }
    self->causes[cause - 1]++;
}

/* The tuple with an exit's number and values: new reference. `only`, owned and taken over, is the value of a bare exit
 * if it is known. `hold` is whether a signal or a request waits that linked code must see. */
static PyObject *
tuple_answer(Launcher *self, Exit *exit, int hold, PyObject *only, ValueSource *source)
{
    PyObject *result = answer_new(self->is_bare, self->width + 1); /* new: the result */
    if (result == NULL) {
        Py_XDECREF(only);
        return NULL;
    }
    exit->taken++;
    PyObject *number = exit->held != NULL && hold ? exit->held : exit->id; /* borrowed, then the result's */
    Py_INCREF(number);
    PyTuple_SET_ITEM(result, 0, number);
    Py_ssize_t position = 1;
    for (; position <= self->width - exit->count; position++) {
        Py_INCREF(Py_None);
        PyTuple_SET_ITEM(result, position, Py_None);
    }
    for (Py_ssize_t i = 0; i < exit->count; i++, position++) {
        PyObject *value = only != NULL ? only : output_value(&exit->items[i], source); /* moved into the tuple */
        if (value == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        PyTuple_SET_ITEM(result, position, value);
    }
    if (hold) {
        breaker_hold();
    }
    if (self->gate.exists && !exit->poll) {
        gate_judge(&self->gate, iterations_of(exit, result));
    }
    return result;
}

static PyObject *
unknown_exit(const Launcher *self, int64_t left)
{
    PyErr_Format(PyExc_SystemError, "kernel of %R returned the unknown exit id %lld", self->name, (long long)left);
    return NULL;
}

/* The answer for one exit: new reference. The GIL is held. */
ALWAYS_INLINE PyObject *
exit_build(Launcher *self, int64_t left, ValueSource *source, Caller *caller)
{
    int64_t id = left & (((int64_t)1 << CAUSE_SHIFT) - 1), cause = left >> CAUSE_SHIFT;
    if (left >= 0 && cause > 0) {
        cause_count(self, cause);
    }
    if (left < 0 || id >= self->nexits) {
        return unknown_exit(self, left);
    }
    Exit *exit = &self->exits[id];
    if (caller->left != NULL && exit->returns) {
        exit->taken++;
        caller->returned = 1;
        return output_build(&exit->items[exit->count - 1], source);
    }
    if (caller->left != NULL && id < caller->left->nexits && caller->left->lands[id] == exit->count + 1) {
        exit->taken++;
        caller->landed = 1;
        return exit_land(exit, id, source, caller->left);
    }
    int hold = exit->poll || (exit->held != NULL && breaker_is_set());
    PyObject *only = NULL; /* owned, then the result or its last item */
    if (exit->bare && !hold && !self->gate.exists) {
        only = output_value(&exit->items[0], source);
        if (only == NULL || answers_itself(only)) {
            exit->taken += only != NULL;
            return only;
        }
    }
    return tuple_answer(self, exit, hold, only, source);
}

#endif
