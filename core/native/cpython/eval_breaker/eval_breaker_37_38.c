/* The eval breaker of CPython 3.7 and 3.8: one per process. */
#define Py_BUILD_CORE
#include <Python.h>
#if PY_VERSION_HEX >= 0x03080000
#include <internal/pycore_pystate.h>
#define SIGNALS_PENDING _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending)
#define SIGNALS_WORD _PyRuntime.ceval.signals_pending
#define MAIN_THREAD _PyRuntime.main_thread
#else
#include <internal/pystate.h>
#define SIGNALS_PENDING 0 /* a signal is a pending call there */
#define SIGNALS_WORD _PyRuntime.ceval.pending.calls_to_do
#define MAIN_THREAD _PyRuntime.ceval.pending.main_thread
#endif
#include "cpython/eval_breaker/eval_breaker.h"
#include "cpython/eval_breaker/no_monitoring.inc"

int *
breaker_address(void)
{
    return (int *)&_PyRuntime.ceval.eval_breaker._value;
}

int *
breaker_signals_address(void)
{
    return (int *)&SIGNALS_WORD._value;
}

void
breaker_restore(void)
{
    if (_Py_atomic_load_relaxed(&_PyRuntime.ceval.gil_drop_request) || SIGNALS_PENDING
        || _Py_atomic_load_relaxed(&_PyRuntime.ceval.pending.calls_to_do) || _PyRuntime.ceval.pending.async_exc) {
        __atomic_store_n(breaker_address(), 1, __ATOMIC_RELAXED);
    }
}

int
thread_runs_handlers(void)
{
    return PyThread_get_thread_ident() == MAIN_THREAD;
}

int
breaker_asks(PyThreadState *tstate)
{
    if (tstate->async_exc != NULL) {
        return 1;
    }
    int waiting = SIGNALS_PENDING || _Py_atomic_load_relaxed(&_PyRuntime.ceval.pending.calls_to_do);
    return waiting && thread_runs_handlers();
}

unsigned long
gil_switches(void)
{
    return _PyRuntime.ceval.gil.switch_number;
}
