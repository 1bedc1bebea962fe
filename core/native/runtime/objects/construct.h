/* Construction of tuples, lists, dicts, sets and numbers in kernels. */
#ifndef PIJIT_RUNTIME_OBJECTS_CONSTRUCT_H
#define PIJIT_RUNTIME_OBJECTS_CONSTRUCT_H

#include "launcher/abi.h"

#define SPEC_WORDS 3

/* Boxes value number `index` of a spec. Returns a new reference, or NULL with an exception set. */
PyObject *spec_box(const int64_t *spec, int64_t index);

/* Moves the reference `made` to the frame. `made` may be NULL with an exception set. */
int64_t spec_answer(int64_t frame, int64_t *spec, PyObject *made);

#endif
