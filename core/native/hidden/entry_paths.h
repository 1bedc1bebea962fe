/* Entry into linked code from CPython 3.11 on. */
#ifndef PIJIT_HIDDEN_ENTRY_PATHS_H
#define PIJIT_HIDDEN_ENTRY_PATHS_H

#include "hidden/hidden.h"
#include "launcher/launch_api.h"

/* There are no landings: the answer of a kernel is handed over at every exit. */
typedef struct {
    PyFunctionObject *pooled; /* owned: a pooled hidden function of the linked code; NULL: none */
} EntryPaths;

/* 0; the landings are not read. */
int entry_paths_read(EntryPaths *paths, PyObject *landings, PyCodeObject *code);

/* Release what `paths` owns. */
void entry_paths_free(EntryPaths *paths);

/* Give launchers the function that returns the run of linked code. */
void launch_connect(const LaunchAPI *api);

#endif
