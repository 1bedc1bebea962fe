/* Exceptions of callbacks that return a number: their thread raises them when bytecode runs next. */
#ifndef PIJIT_LAUNCHER_CALLBACKS_POSTPONED_ERRORS_H
#define PIJIT_LAUNCHER_CALLBACKS_POSTPONED_ERRORS_H

#include "launcher/callbacks/c_callback.h"

/* Let this thread raise the exception that is set, which no longer is then. If the thread cannot, or runs no bytecode
 * around the call, sys.unraisablehook gets it. */
void error_postpone(CCallback *self);

/* Whether an exception waits for bytecode of this thread. */
int error_waits(const CCallback *self);

#endif
