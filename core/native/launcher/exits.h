/* Exits: the answer of a launcher after its kernel has left by an exit. */
#ifndef PIJIT_LAUNCHER_EXITS_H
#define PIJIT_LAUNCHER_EXITS_H

#include "launcher/launcher.h"
#include "launcher/marshal/outputs.h"

/* Give an exit's values to the caller in `left`: a NEW reference to None, or NULL with an exception set. */
PyObject *exit_land(const Exit *exit, int64_t id, ValueSource *source, Left *left);

/* Count the cause of an exit. A cause whose counter cannot be allocated is not counted. */
void cause_count(Launcher *self, int64_t cause);

/* The tuple with an exit's number and values: a NEW reference, or NULL with an exception set. `only`, owned and taken
 * over, is the value of a bare exit if it is known. `hold` is whether a signal or a request waits that linked code must
 * see. */
PyObject *tuple_answer(Launcher *self, Exit *exit, int hold, PyObject *only, ValueSource *source);

/* NULL, with an exception set for an exit id that the launcher does not have. */
PyObject *unknown_exit(const Launcher *self, int64_t left);

#endif
