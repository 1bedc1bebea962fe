/* Exits: the parts of a launcher's answer that are not inlined. */
#include "launcher/exits.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/abi.h"
#include "launcher/answers.h"
#include "launcher/marshal/outputs_inl.h"

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

PyObject *
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

void
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

PyObject *
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

PyObject *
unknown_exit(const Launcher *self, int64_t left)
{
    PyErr_Format(PyExc_SystemError, "kernel of %R returned the unknown exit id %lld", self->name, (long long)left);
    return NULL;
}
