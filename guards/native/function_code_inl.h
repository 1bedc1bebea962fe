/* The code of a function. On CPython 3.11 a redirected function (core/native/cpython/function_hooks/redirection.h) has a trampoline in its
 * place. */
#ifndef PIJIT_GUARDS_FUNCTION_CODE_INL_H
#define PIJIT_GUARDS_FUNCTION_CODE_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000

#define TRAMPOLINE_TARGET "pijit.core._hook.TrampolineTarget"

/* The only constant of a trampoline: what it calls. Its type is known by its name in all modules of pijit. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyFunctionObject *function; /* borrowed; NULL: the redirection has ended */
    PyObject *code;             /* owned: the code of the function */
    PyObject *keywords;         /* owned: a tuple of the names of keyword-only parameters; NULL: none */
} TrampolineTarget;

/* What the code calls, if it is a trampoline; NULL: it is not. Borrowed. Trampolines have no instruction RESUME. */
static inline TrampolineTarget *
trampoline_target(const PyCodeObject *code)
{
    if (code->_co_firsttraceable < Py_SIZE(code) || PyTuple_GET_SIZE(code->co_consts) != 1) {
        return NULL;
    }
    PyObject *target = PyTuple_GET_ITEM(code->co_consts, 0); /* borrowed */
    return strcmp(Py_TYPE(target)->tp_name, TRAMPOLINE_TARGET) == 0 ? (TrampolineTarget *)target : NULL;
}

/* The code of a function, borrowed. */
static inline PyObject *
function_code(PyFunctionObject *function)
{
    const TrampolineTarget *target = trampoline_target((PyCodeObject *)function->func_code);
    return target != NULL ? target->code : function->func_code;
}

#else

static inline PyObject *
function_code(PyFunctionObject *function)
{
    return function->func_code;
}

#endif

#endif
