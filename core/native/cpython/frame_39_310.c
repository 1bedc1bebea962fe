/* Frames on CPython 3.9 and 3.10: the evaluator has accessors. It takes a thread state, which may be NULL. */
#include "cpython/frame_inl.h"
#if PY_VERSION_HEX < 0x030a0000
#include "cpython/builtins_inl.h"
#endif

static PyObject *
evaluate_trampoline(PyThreadState *tstate, PyFrameObject *frame, int throwflag)
{
    return hook_evaluate(tstate != NULL ? tstate : PyThreadState_Get(), frame, throwflag);
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
    return (Evaluator)_PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
}

void
evaluator_set(Evaluator evaluator)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), (_PyFrameEvalFunction)evaluator);
}

PyObject *
evaluator_call(Evaluator evaluator, PyThreadState *tstate, PyFrameObject *frame, int throwflag)
{
    return ((_PyFrameEvalFunction)evaluator)(tstate, frame, throwflag);
}

PyObject *
function_builtins(PyThreadState *tstate, PyFunctionObject *function)
{
#if PY_VERSION_HEX >= 0x030a0000
    return function->func_builtins;
#else
    return globals_builtins(tstate, function->func_globals);
#endif
}
