/* Function hooks on CPython 3.11: there are none, because its evaluator ignores the vectorcall of functions. */
#include "cpython/function_hooks/function_hooks.h"

int
function_hooks_add(PyObject *Py_UNUSED(module))
{
    return 0;
}
