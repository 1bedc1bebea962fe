/* sys.monitoring on CPython 3.13 and later: the version of its events is in the upper bits of each thread's eval breaker. */
#include "monitoring.h"

#define REQUEST_BITS 8

int
code_is_monitored(PyThreadState *tstate, PyCodeObject *code)
{
    return tools_have_events((uint64_t)(tstate->eval_breaker >> REQUEST_BITS)) || code_has_events(code);
}
