/* CPython 3.11 has no sys.monitoring. */
#include "cpython/thread_311_inl.h"

int
code_is_monitored(PyThreadState *Py_UNUSED(tstate), PyCodeObject *Py_UNUSED(code))
{
    return 0;
}
