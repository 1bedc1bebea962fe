/* Stubs: CPython up to 3.11 has no sys.monitoring. Included by eval_breaker_*.c. */
#ifndef PIJIT_NO_MONITORING_H
#define PIJIT_NO_MONITORING_H

#include "cpython/eval_breaker/eval_breaker.h"

int
monitoring_listens(void)
{
    return 0;
}

int
monitoring_in_use(void)
{
    return 0;
}

int
monitoring_listens_to(PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

#endif
