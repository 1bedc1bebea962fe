/* Profiles: calls and their time.
 *
 * Functions that are called are kept in a list while profiling is on. Counts of an earlier period are dropped at the
 * first call in a new one. */
#include "function/tiering/call_profile.h"
#include "function/dispatch.h"
#include "function/gradients/gradient_function.h"
#include "function/jit_function.h"

int calls_profiled;
static int64_t period;      /* the number of periods of profiling so far */
static PyObject *functions; /* owned: the list of functions called in this period; NULL if profiling is off */

/* Whether the counts of a function are those of this period. If not, they become so; 0 without memory for it. No
 * exception is set. */
static int
profile_is_current(PyObject *function, CallProfile *profile)
{
    if (profile->period == period) {
        return 1;
    }
    if (functions == NULL || PyList_Append(functions, function) < 0) {
        PyErr_Clear();
        return 0;
    }
    *profile = (CallProfile){.period = period};
    return 1;
}

void
profiled_call_begin(ProfiledCall *call, PyObject *function, CallProfile *profile)
{
    call->function = NULL;
    if (!profile_is_current(function, profile)) {
        return;
    }
    Py_INCREF(function);
    call->function = function;
    call->profile = profile;
    call->period = period;
    launch_api->span_begin(&call->span);
}

void
profiled_call_end(ProfiledCall *call)
{
    if (call->function == NULL) {
        return;
    }
    int64_t ns = launch_api->span_end(&call->span);
    if (call->profile->period == call->period) {
        call->profile->calls++;
        call->profile->ns += ns;
    }
    Py_DECREF(call->function);
}

/* A vectorcall of a JitFunction, profiled. NEW reference to the result, or NULL with an exception set. */
static inline PyObject *
profiled_called(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    if (Py_TYPE(callable)->tp_call != (ternaryfunc)jit_function_call) {
        return jit_function_vectorcall(callable, args, nargsf, kwnames); /* which comes to jit_function_call */
    }
    ProfiledCall call;
    profiled_call_begin(&call, callable, &((JitFunction *)callable)->profile);
    PyObject *result = jit_function_vectorcall(callable, args, nargsf, kwnames); /* owned, given away */
    profiled_call_end(&call);
    return result;
}

VECTORCALL_WITH_ARGUMENTS(profiled_vectorcall, profiled_called)

/* ---- the module's functions ---- */

PyObject *
call_profiling_set(PyObject *Py_UNUSED(module), PyObject *on)
{
    int wanted = PyObject_IsTrue(on);
    if (wanted < 0 || launch_ready() < 0) {
        return NULL;
    }
    PyObject *found = wanted ? PyList_New(0) : NULL; /* owned; other threads may run while it is made */
    if (wanted && found == NULL) {
        return NULL;
    }
    if (wanted != calls_profiled) {
        PyObject *old = functions; /* owned */
        functions = found;         /* moved */
        found = old;
        period += wanted;
        calls_profiled = wanted;
        jit_functions_reroute();
    }
    Py_XDECREF(found);
    Py_RETURN_NONE;
}

/* The counts of a function in the list, borrowed. */
static const CallProfile *
counts_of(PyObject *function)
{
    return PyObject_TypeCheck(function, &JitFunction_Type) ? &((JitFunction *)function)->profile
                                                           : gradient_function_profile(function);
}

PyObject *
call_times(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *result = PyList_New(0); /* new: the result */
    PyObject *called = functions;     /* owned: a garbage collection may run code that ends profiling */
    Py_XINCREF(called);
    for (Py_ssize_t i = 0; result != NULL && called != NULL && i < PyList_GET_SIZE(called); i++) {
        PyObject *function = PyList_GET_ITEM(called, i); /* borrowed from the list, which only grows */
        const CallProfile *one = counts_of(function);
        PyObject *row = Py_BuildValue("(OLL)", function, one->calls, (long long)one->ns); /* owned */
        if (row == NULL || PyList_Append(result, row) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(row);
    }
    Py_XDECREF(called);
    return result;
}
