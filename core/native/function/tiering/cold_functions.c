/* Cold functions: the time of their calls is added up, and `ask` decides when they are worth compiling.
 *
 * While a function is cold, its calls run the original. If it has loops, they run the code in its cache, which asks
 * at loop headers. The first calls are timed one by one, later ones by samples. Recursive calls count as a part of
 * the outermost call. `ask` gets the nanoseconds so far. It returns the time at which to ask again, or None when the
 * function is no longer cold. */
#include "function/tiering/cold_functions.h"
#include "function/tiering/cold_functions_inl.h"
#include "cpython/family.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "launcher/timing/clock_inl.h"

#define HEAT_EARLY 32    /* the number of first calls that are timed one by one */
#define HEAT_STRIDE 16   /* of later calls, every 16th is timed */
#define HEAT_NESTED 1024 /* of recursive calls, every 1024th reads the clock */

/* Ask whether the function is still cold; errors are reported as those of `code`. Not while tracers observe the function:
 * they would see the calls. */
static void
heat_ask(Heat *heat, PyObject *code)
{
    if (code_is_observed(PyThreadState_Get(), (PyCodeObject *)code)) {
        return;
    }
    PyObject *type, *value, *traceback; /* owned: the call may have raised */
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *ask = heat->ask; /* owned: the call may replace it */
    Py_INCREF(ask);
    heat->next = INT64_MAX; /* on an error it stays cold */
    PyObject *answer = paused_call(ask, Py_BuildValue("(L)", (long long)heat_so_far(heat)), code); /* owned */
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

void
heat_begin(ColdCall *call, PyObject *function, Heat *heat, PyObject *py_func)
{
    call->function = function;
    call->code = PyFunction_GET_CODE(py_func);
    call->weight = 0;
    Py_INCREF(call->function);
    Py_INCREF(call->code);
    if (heat->depth++ > 0) {
        if ((++heat->nested & (HEAT_NESTED - 1)) == 0 && heat_so_far(heat) >= heat->next) {
            heat_ask(heat, call->code);
        }
        return;
    }
    if (heat->calls++ == 0 || heat->next == 0) {
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

void
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

int
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
