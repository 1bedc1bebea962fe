/* sys.monitoring on CPython 3.12: whether a code object is monitored.
 *
 * The version of the events is in the interpreter state, which only internal headers declare. */
#include "cpython/eval_breaker/monitoring_tools_inl.h"
#include "cpython/thread_311_inl.h"

int
code_is_monitored(PyThreadState *tstate, PyCodeObject *code)
{
    unsigned used = monitors_in_use(tstate->interp);
    return used != 0
           && (monitors_listen(tstate->interp, tstate->interp->monitoring_version) || monitors_listen_to(code, used));
}
