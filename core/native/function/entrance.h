/* The layout of an Entrance, the payload of an entry cache for linked code, on all versions. */
#ifndef PIJIT_FUNCTION_ENTRANCE_H
#define PIJIT_FUNCTION_ENTRANCE_H

#include "function/dispatch.h"

#if PY_VERSION_HEX >= 0x030b0000
#include "hidden/entry_paths.h"
#else
#include "hook/exit_landings.h"
#endif

typedef struct {
    PyObject_HEAD
    PyObject *code;         /* owned: the linked code */
    PyObject *launcher;     /* owned: the launcher that runs first, before any frame; NULL: begin in a frame */
    PyCodeObject *fits;     /* the code object that the linked code was found to fit; only its identity is used */
    EntryPaths entry_paths; /* entry into the linked code for this CPython family */
} Entrance;

#endif
