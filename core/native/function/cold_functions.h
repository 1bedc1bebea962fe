/* Cold functions: what their calls take is counted, and `ask` decides when they are worth compiling.
 *
 * While a function is cold, a call runs it as it is; where it has loops, as its cache says: code that asks at their
 * headers. The first calls are timed one by one, later ones by samples. Calls inside a call of the same function are a
 * part of it. `ask` gets the nanoseconds so far and answers at how many to ask again, or None: cold no more. */
#ifndef PIJIT_CORE_HEAT_H
#define PIJIT_CORE_HEAT_H

#include "launcher/clock.h"
#include "function/dispatch.h"

#define HEAT_EARLY 32        /* the number of first calls that are timed one by one */
#define HEAT_STRIDE 16       /* of later calls one in this number is timed */
#define HEAT_NESTED 1024     /* of calls inside a call one in this number looks at the clock */

typedef struct {
    PyObject *ask;           /* owned; NULL: the function is not cold */
    int64_t spent, next;     /* ns so far, and when to ask */
    int64_t start;           /* of the outermost call under way; 0: none, or it is not timed */
    Py_ssize_t depth;        /* calls under way */
    unsigned long calls, nested;
    char looping;            /* the cache has code that asks at headers of loops */
} Heat;

/* What the calls of a function took, with that of the call under way. */
static inline int64_t
heat_so_far(const Heat *heat)
{
    return heat->spent + (heat->start != 0 ? now_ns() - heat->start : 0);
}

/* Ask whether the function is still cold; faults are reported as those of `code`. */
static void
heat_ask(Heat *heat, PyObject *code)
{
    PyObject *type, *value, *traceback;  /* owned: the call may have raised */
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *ask = heat->ask;  /* owned: it may be replaced meanwhile */
    Py_INCREF(ask);
    heat->next = INT64_MAX;  /* a fault leaves it cold */
    PyObject *answer = paused_call(ask, Py_BuildValue("(L)", (long long)heat_so_far(heat)), code);  /* owned */
    Py_DECREF(ask);
    if (answer == Py_None) {
        Py_CLEAR(heat->ask);
    }
    else if (answer != NULL) {
        long long next = PyLong_AsLongLong(answer);
        if (next == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            next = INT64_MAX;
        }
        heat->next = next;
    }
    Py_XDECREF(answer);
    PyErr_Restore(type, value, traceback);
}

/* A call of a cold function; what it owns is released by heat_end. */
typedef struct {
    PyObject *function;      /* owned: the JitFunction, which has the Heat */
    PyObject *code;          /* owned */
    int64_t weight;          /* the number of calls that its time stands for; 0: it is not timed */
} ColdCall;

static void
heat_begin(ColdCall *call, PyObject *function, Heat *heat, PyObject *py_func)
{
    call->function = function;
    call->code = PyFunction_GET_CODE(py_func);
    call->weight = 0;
    Py_INCREF(call->function);
    Py_INCREF(call->code);
    if (heat->depth++ > 0) {
        if ((++heat->nested & (HEAT_NESTED - 1)) == 0 && heat->start != 0 && heat_so_far(heat) >= heat->next) {
            heat_ask(heat, call->code);
        }
        return;
    }
    if (heat->calls++ == 0) {
        heat_ask(heat, call->code);
    }
    if (heat->looping || heat->calls <= HEAT_EARLY) {
        call->weight = 1;
    }
    else if (heat->calls % HEAT_STRIDE == 0) {
        call->weight = HEAT_STRIDE;
    }
    heat->start = call->weight > 0 ? now_ns() : 0;
}

/* Whether a call is to run the function as it is. */
static inline int
heat_is_plain(const Heat *heat)
{
    return heat->ask != NULL && !heat->looping;
}

/* Behind that call, whatever became of it. */
static void
heat_end(ColdCall *call, Heat *heat)
{
    heat->depth--;
    if (call->weight > 0) {
        heat->spent += (now_ns() - heat->start) * call->weight;
        heat->start = 0;
        if (heat->ask != NULL && heat->spent >= heat->next) {
            heat_ask(heat, call->code);
        }
    }
    Py_DECREF(call->code);
    Py_DECREF(call->function);
}

/* Make a function cold, or with None no longer; -1 with an exception set for what is not callable. */
static int
heat_set(Heat *heat, PyObject *ask, int looping)
{
    if (ask != Py_None && !PyCallable_Check(ask)) {
        PyErr_Format(PyExc_TypeError, "chill: ask must be callable or None, not %.200s", Py_TYPE(ask)->tp_name);
        return -1;
    }
    Py_INCREF(ask);
    Py_XSETREF(heat->ask, ask);
    if (ask == Py_None) {
        Py_CLEAR(heat->ask);
    }
    heat->looping = (char)looping;
    heat->next = 0;
    return 0;
}

#endif
