/* The eval breaker of CPython 3.13: one per thread. See per_thread_inl.h. */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_ceval.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include "cpython/eval_breaker/eval_breaker.h"
#include "cpython/eval_breaker/monitoring_tools_inl.h"

/* Does not compile if CPython's bits differ from those of per_thread_inl.h. */
typedef char bits_are_known[BREAKER_GIL == _PY_GIL_DROP_REQUEST_BIT && BREAKER_SIGNALS == _PY_SIGNALS_PENDING_BIT
                                    && BREAKER_CALLS == _PY_CALLS_TO_DO_BIT && BREAKER_EXCEPTION == _PY_ASYNC_EXCEPTION_BIT
                                    && BREAKER_STOP == _PY_EVAL_PLEASE_STOP_BIT && BREAKER_ALL == _PY_EVAL_EVENTS_MASK
                                ? 1
                                : -1];

/* Bits that this thread has hidden from bytecode. */
static __thread uintptr_t held_bits;

void
breaker_hold(void)
{
    held_bits |= __atomic_fetch_and(breaker_word(), ~(uintptr_t)BREAKER_ALL, __ATOMIC_RELAXED) & BREAKER_ALL;
}

void
breaker_restore(void)
{
    uintptr_t bits = held_bits;
    held_bits = 0;
    if (bits != 0) {
        __atomic_fetch_or(breaker_word(), bits, __ATOMIC_RELAXED);
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
    uintptr_t asked = BREAKER_SIGNALS | BREAKER_CALLS | BREAKER_EXCEPTION | BREAKER_STOP;
    return (__atomic_load_n(&tstate->eval_breaker, __ATOMIC_RELAXED) & asked) != 0;
}

unsigned long
gil_switches(void)
{
    return PyInterpreterState_Main()->ceval.gil->switch_number;
}

int
monitoring_listens(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Main(); /* borrowed */
    return monitors_listen(interpreter, interpreter->ceval.instrumentation_version);
}

int
monitoring_in_use(void)
{
    return monitors_in_use(PyInterpreterState_Main()) != 0;
}

int
monitoring_listens_to(PyCodeObject *code)
{
    return monitors_listen_to(code, monitors_in_use(PyInterpreterState_Main()));
}
