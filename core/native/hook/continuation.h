/* Continuations of inlined calls: a frame of the callee that starts in the middle of its run. */
#ifndef PIJIT_HOOK_CONTINUATION_H
#define PIJIT_HOOK_CONTINUATION_H

#include "function/dispatch.h"

extern PyTypeObject Continuation_Type;

#endif
