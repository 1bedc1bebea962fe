/* Threads and callers in CPython 3.11 to 3.13, without access to frame structures. Part of caller.h.
 *
 * pijit.core._hook runs linked code and keeps a record of each run; it tells which run is the current one
 * (launch_api.h). */
#ifndef PIJIT_CPYTHON_CALLER_311_313_INL_H
#define PIJIT_CPYTHON_CALLER_311_313_INL_H

#include "cpython/eval_breaker/eval_breaker.h"
#include "cpython/recursion_311_inl.h"

/* hand_over.c: the function that LaunchAPI.set_running was given; NULL: none yet. */
extern const void *(*running_record)(void);

/* Whether sys.settrace, sys.setprofile or a tool of sys.monitoring observes a thread. */
static inline int
thread_is_traced(PyThreadState *tstate)
{
    return tstate->tracing == 0 && (tstate->c_tracefunc != NULL || tstate->c_profilefunc != NULL || monitoring_listens());
}

/* The identity of the run of linked code that is calling; NULL: none. Never dereferenced. */
static inline const void *
caller_running(PyThreadState *tstate)
{
    return running_record != NULL ? running_record() : NULL;
}

static inline PyObject *
caller_globals(PyThreadState *tstate)
{
    return PyEval_GetGlobals();
}

static inline PyObject *
caller_builtins(PyThreadState *tstate)
{
    return PyEval_GetBuiltins();
}

/* The variable of a frame: a new reference; NULL without an exception if it is unbound. */
static inline PyObject *
frame_variable(PyFrameObject *frame, PyObject *name)
{
#if PY_VERSION_HEX < 0x030C0000
    PyObject *locals = PyFrame_GetLocals(frame);                              /* owned */
    PyObject *value = locals != NULL ? PyObject_GetItem(locals, name) : NULL; /* new: the result */
    Py_XDECREF(locals);
#else
    PyObject *value = PyFrame_GetVar(frame, name); /* new: the result */
#endif
    if (value == NULL) {
        PyErr_Clear();
    }
    return value;
}

static inline void
caller_locals_end(PyObject **values, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_DECREF(values[i]);
    }
}

/* Read the locals of the calling frame at `slots`; caller_locals_end releases them. 1; 0 if one is unbound. */
static inline int
caller_locals(PyThreadState *tstate, const Py_ssize_t *slots, Py_ssize_t count, PyObject **values)
{
    PyFrameObject *frame = PyEval_GetFrame();                           /* borrowed */
    PyCodeObject *code = frame != NULL ? PyFrame_GetCode(frame) : NULL; /* owned */
    PyObject *names = code != NULL ? PyCode_GetVarnames(code) : NULL;   /* owned */
    Py_ssize_t found = 0;
    while (names != NULL && found < count && slots[found] < PyTuple_GET_SIZE(names)) {
        values[found] = frame_variable(frame, PyTuple_GET_ITEM(names, slots[found])); /* owned by the caller */
        if (values[found] == NULL) {
            break;
        }
        found++;
    }
    Py_XDECREF(names);
    Py_XDECREF(code);
    if (names == NULL) {
        PyErr_Clear();
    }
    if (found < count || names == NULL) {
        caller_locals_end(values, found);
        return 0;
    }
    return 1;
}

/* NEW reference to callable(*arguments), or NULL with an exception set; tracers and monitoring tools do not see the
 * call. */
static inline PyObject *
untraced_call(PyObject *callable, PyObject *arguments)
{
    PyThreadState *tstate = PyThreadState_Get();
    PyThreadState_EnterTracing(tstate);
    PyObject *result = PyObject_Call(callable, arguments, NULL); /* owned, given away */
    PyThreadState_LeaveTracing(tstate);
    return result;
}

#endif
