/* Landings: resume points in linked code after the exits of a kernel that ran before there was a frame.
 *
 * The frame of the linked code begins at the landing, with the exit's values in place. So it skips the code that calls
 * the launcher and unpacks its answer. */
#ifndef PIJIT_HOOK_EXIT_LANDINGS_H
#define PIJIT_HOOK_EXIT_LANDINGS_H

#include "hook/hooked.h"
#include "launcher/launch_api.h"

typedef struct {
    Py_ssize_t nexits;
    Landing *landings;     /* owned: one for each exit, unset where `lands` is 0 */
    char *lands;           /* owned: which exits have one, see Left */
    PyFrameObject *pooled; /* owned: an empty frame of the linked code, or NULL */
} EntryPaths;

/* Read the landings of all exits: 0, or -1 with an exception set. The caller frees `paths` in both cases. */
int entry_paths_read(EntryPaths *paths, PyObject *given, PyCodeObject *code);

/* Release what `paths` owns. */
void entry_paths_free(EntryPaths *paths);

/* Give launchers what they need from this module. */
void launch_connect(const LaunchAPI *api);

#endif
