/* Frames on CPython 3.7 and 3.8: the evaluator is a plain field of the interpreter state. It takes no thread state. */
#include "cpython/frame_inl.h"
#include "cpython/builtins_inl.h"

/* 3.8 moved the field into an internal header, which defines a macro of the public headers again. */
#if PY_VERSION_HEX >= 0x03080000
#define Py_BUILD_CORE
#undef _PyGC_FINALIZED
#include <internal/pycore_pystate.h>
#undef Py_BUILD_CORE
#endif

static PyObject *
evaluate_trampoline(PyFrameObject *frame, int throwflag)
{
    return hook_evaluate(PyThreadState_Get(), frame, throwflag);
}

Evaluator
evaluator_default(void)
{
    return (Evaluator)_PyEval_EvalFrameDefault;
}

Evaluator
evaluator_hook(void)
{
    return (Evaluator)evaluate_trampoline;
}

Evaluator
evaluator_get(void)
{
    return (Evaluator)PyThreadState_Get()->interp->eval_frame;
}

void
evaluator_set(Evaluator evaluator)
{
    PyThreadState_Get()->interp->eval_frame = (_PyFrameEvalFunction)evaluator;
}

PyObject *
evaluator_call(Evaluator evaluator, PyThreadState *Py_UNUSED(tstate), PyFrameObject *frame, int throwflag)
{
    return ((_PyFrameEvalFunction)evaluator)(frame, throwflag);
}

PyObject *
function_builtins(PyThreadState *tstate, PyFunctionObject *function)
{
    return globals_builtins(tstate, function->func_globals);
}
