/* Strings and bytes in kernels: their items, and comparisons. */
#ifndef PIJIT_RUNTIME_OBJECTS_STRINGS_H
#define PIJIT_RUNTIME_OBJECTS_STRINGS_H

#include "launcher/abi.h"

/* Moves a reference to an object from the list to the caller. Returns 1, or 0 if the list has none. */
int owned_take(OwnedList *owned, PyObject *object);

#endif
