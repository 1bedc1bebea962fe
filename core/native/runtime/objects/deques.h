/* collections.deque in kernels: reads of items; removal and insertion at both ends. */
#ifndef PIJIT_RUNTIME_OBJECTS_DEQUES_H
#define PIJIT_RUNTIME_OBJECTS_DEQUES_H

#include "launcher/abi.h"

/* True if an item may be dropped that only the deque and the caller hold. A tuple may be dropped if its items may. */
int item_may_go(PyObject *item);

/* Finds the methods and checks the layout. Returns 0, or -1 with an exception set. */
int deques_ready(void);

#endif
