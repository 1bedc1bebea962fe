/* Entry into linked code from CPython 3.11 on: nothing to read, and a pooled function to free. */
#include "hidden/entry_paths.h"

int
entry_paths_read(EntryPaths *Py_UNUSED(entry_paths), PyObject *Py_UNUSED(landings), PyCodeObject *Py_UNUSED(code))
{
    return 0;
}

void
entry_paths_free(EntryPaths *paths)
{
    hidden_end(paths->pooled);
}

void
launch_connect(const LaunchAPI *api)
{
    api->set_running(record_running);
}
