/* Python errors in functions that kernels call with or without the GIL.
 *
 * Such functions allocate memory by PyMem_Raw*, which needs no GIL. */
#include "runtime/gil.h"

void
error_set(PyObject *type, const char *message)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_SetString(type, message);
    PyGILState_Release(gil);
}

void
memory_error(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_NoMemory();
    PyGILState_Release(gil);
}
