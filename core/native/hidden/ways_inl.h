/* Entry into linked code from CPython 3.11 on. */
#ifndef PIJIT_HIDDEN_WAYS_INL_H
#define PIJIT_HIDDEN_WAYS_INL_H

#include "function/dispatch.h"
#include "hidden/hidden.h"
#include "launcher/launch_api.h"

/* There are no landings: the answer of a kernel is handed over at every exit. */
typedef struct {
    PyFunctionObject *pooled; /* owned: a pooled hidden function of the linked code; NULL: none */
} Ways;

static int
ways_read(Ways *Py_UNUSED(ways), PyObject *Py_UNUSED(landings), PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

static void
ways_free(Ways *ways)
{
    hidden_end(ways->pooled);
}

static void
launch_connect(const LaunchAPI *api)
{
    api->set_running(record_running);
}

#endif
