/* Selection of the code that runs in a frame: the payload from a cache, on_miss or the code filter. */
#ifndef PIJIT_HOOK_SELECT_CODE_H
#define PIJIT_HOOK_SELECT_CODE_H

#include "function/callees.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"

Py_ssize_t frame_slot_count(PyFrameObject *frame);

/* The code for a frame: a NEW reference to a code object that fits; NULL without an exception: the original; NULL
 * with an exception: raise it in the function's caller. `callee`: the Callee that linked code calls, or NULL; `call`:
 * the frame's, or NULL. `run` is filled. */
PyObject *payload_find(PyFrameObject *frame, int take_marked, Callee *callee, HookCall *call, TimedRun *run);

#endif
