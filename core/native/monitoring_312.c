/* sys.monitoring on CPython 3.12: the version of its events is in the interpreter's state, which only its own headers show. */
#define Py_BUILD_CORE
#include "monitoring.h"
#include <internal/pycore_interp.h>
#undef Py_BUILD_CORE

int
code_is_monitored(PyThreadState *tstate, PyCodeObject *code)
{
    return tools_have_events(tstate->interp->monitoring_version) || code_has_events(code);
}
