/* Entry into linked code from CPython 3.11 on. */
#ifndef PIJIT_HIDDEN_ENTRY_PATHS_INL_H
#define PIJIT_HIDDEN_ENTRY_PATHS_INL_H

#include "function/dispatch.h"
#include "hidden/hidden.h"
#include "launcher/launch_api.h"

/* There are no landings: the answer of a kernel is handed over at every exit. */
typedef struct {
    PyFunctionObject *pooled; /* owned: a pooled hidden function of the linked code; NULL: none */
} EntryPaths;

static int
entry_paths_read(EntryPaths *Py_UNUSED(entry_paths), PyObject *Py_UNUSED(landings), PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

static void
entry_paths_free(EntryPaths *paths)
{
    hidden_end(paths->pooled);
}

static void
launch_connect(const LaunchAPI *api)
{
    api->set_running(record_running);
}

#endif
