/* The eval breaker of CPython 3.12: one per interpreter; pijit runs in the main interpreter only.
 *
 * The garbage collector sets the same word, which does not tell requests apart. So kernels leave for a collection,
 * too. */
#define Py_BUILD_CORE
#include <Python.h>
#include <internal/pycore_interp.h>
#include <internal/pycore_runtime.h>
#include "cpython/eval_breaker/eval_breaker.h"
#include "cpython/eval_breaker/monitoring_tools_inl.h"

static PyInterpreterState *
main_interpreter(void)
{
    return _PyRuntime.interpreters.main;
}

int *
breaker_address(void)
{
    return (int *)&main_interpreter()->ceval.eval_breaker._value;
}

int *
breaker_signals_address(void)
{
    return (int *)&_PyRuntime.ceval.signals_pending._value;
}

/* Whether a signal, or a pending call of the interpreter, waits for the main thread. */
static int
main_thread_is_asked(void)
{
    return _Py_atomic_load_relaxed(&_PyRuntime.ceval.signals_pending)
           || _Py_atomic_load_relaxed(&_PyRuntime.ceval.pending_mainthread.calls_to_do);
}

void
breaker_restore(void)
{
    struct _ceval_state *ceval = &main_interpreter()->ceval;
    if (_Py_atomic_load_relaxed(&ceval->gil_drop_request) || main_thread_is_asked()
        || _Py_atomic_load_relaxed(&ceval->pending.calls_to_do) || ceval->pending.async_exc
        || _Py_atomic_load_relaxed(&ceval->gc_scheduled)) {
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
    if (tstate->async_exc != NULL || _Py_atomic_load_relaxed(&main_interpreter()->ceval.pending.calls_to_do)) {
        return 1;
    }
    return main_thread_is_asked() && thread_runs_handlers();
}

unsigned long
gil_switches(void)
{
    return main_interpreter()->ceval.gil->switch_number;
}

int
monitoring_listens(void)
{
    return monitors_listen(main_interpreter(), main_interpreter()->monitoring_version);
}

int
monitoring_in_use(void)
{
    return monitors_in_use(main_interpreter()) != 0;
}

int
monitoring_listens_to(PyCodeObject *code)
{
    return monitors_listen_to(code, monitors_in_use(main_interpreter()));
}
