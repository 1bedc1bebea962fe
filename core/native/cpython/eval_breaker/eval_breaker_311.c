/* The eval breaker of CPython 3.11: one per interpreter; pijit runs in the main interpreter only. */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include "cpython/eval_breaker/eval_breaker.h"
#include "cpython/eval_breaker/no_monitoring.inc"

int *
breaker_address(void)
{
    return (int *)&_PyRuntime.interpreters.main->ceval.eval_breaker._value;
}

int *
breaker_signals_address(void)
{
    return (int *)&_PyRuntime.ceval.signals_pending._value;
}

void
breaker_restore(void)
{
    struct _ceval_state *ceval = &_PyRuntime.interpreters.main->ceval;
    if (_Py_atomic_load_relaxed(&ceval->gil_drop_request) || _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending)
        || _Py_atomic_load_relaxed(&ceval->pending.calls_to_do) || ceval->pending.async_exc) {
        __atomic_store_n(breaker_address(), 1, __ATOMIC_RELAXED);
    }
}

int
thread_runs_handlers(void)
{
    return PyThread_get_thread_ident() == _PyRuntime.main_thread;
}

int
breaker_asks(PyThreadState *tstate)
{
    if (tstate->async_exc != NULL) {
        return 1;
    }
    int waiting = _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending)
                  || _Py_atomic_load_relaxed(&_PyRuntime.interpreters.main->ceval.pending.calls_to_do);
    return waiting && thread_runs_handlers();
}

unsigned long
gil_switches(void)
{
    return _PyRuntime.ceval.gil.switch_number;
}
