/* Redirection of plain Python functions from CPython 3.12 on: see redirection.h. */
#include "cpython/function_hooks/redirection.h"

static int
function_changed(PyFunction_WatchEvent event, PyFunctionObject *function, PyObject *Py_UNUSED(value))
{
    if (event != PyFunction_EVENT_CREATE) {
        hook_forget(function);
    }
    return 0;
}

int
redirection_watch(void)
{
    static int watches;
    if (!watches && PyFunction_AddWatcher(function_changed) < 0) {
        return -1;
    }
    watches = 1;
    return 0;
}

int
redirection_begin(Redirection *redirection, PyFunctionObject *function)
{
    *redirection = (Redirection){function, function->func_code, function->vectorcall, NULL};
    return 0;
}

void
redirection_end(Redirection *redirection)
{
    redirection_off(redirection);
}

void
redirection_on(Redirection *redirection)
{
    PyFunction_SetVectorcall(redirection->function, hooked_call);
}

void
redirection_off(Redirection *redirection)
{
    PyFunction_SetVectorcall(redirection->function, redirection->plain);
}
