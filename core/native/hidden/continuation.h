/* Continuations of inlined calls: hidden functions that start in the middle of the callee. */
#ifndef PIJIT_HIDDEN_CONTINUATION_H
#define PIJIT_HIDDEN_CONTINUATION_H

#include "function/dispatch.h"

extern PyTypeObject Continuation_Type;

#endif
