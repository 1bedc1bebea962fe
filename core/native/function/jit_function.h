/* The layout of a JitFunction, on all versions. */
#ifndef PIJIT_FUNCTION_JIT_FUNCTION_H
#define PIJIT_FUNCTION_JIT_FUNCTION_H

#include "cpython/vectorcall/vectorcall_slot_inl.h"
#include "function/call_checks.h"
#include "function/tiering/call_profile.h"
#include "function/tiering/cold_functions.h"
#include "function/dispatch.h"

typedef struct JitFunction {
    PyObject_HEAD
    VECTORCALL_FIELD
    PyObject *py_func; /* owned; a function; NULL before __init__ and after clear */
    PyObject *state;   /* owned; may be NULL; for the pipeline */
    PyObject *dict;    /* owned; may be NULL */
    PyObject *weakrefs;
    Pace pace;
    Watch watch;
    Heat heat;
    char enabled;
    PyObject *kept; /* owned; a list of hidden functions, from CPython 3.11 on; may be NULL */
    CallProfile profile;
    struct JitFunction *next, *previous; /* borrowed: all objects of this type are in one ring */
} JitFunction;

/* calls.c of hook or hidden: call a JitFunction. A NEW reference to the result, or NULL with an exception set. */
PyObject *jit_function_call(JitFunction *self, PyObject *args, PyObject *kwargs);

/* As jit_function_call, from CPython 3.8 on. */
PyObject *jit_function_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* call_profile.c: as jit_function_vectorcall; the call is profiled. */
PyObject *profiled_vectorcall(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* jit_function.c: after a change of `calls_profiled`, let calls of all objects go the right way. */
void jit_functions_reroute(void);

#endif
