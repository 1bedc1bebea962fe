/* Continuations of inlined calls (Rest): part of run.c. */
#ifndef PIJIT_HIDDEN_CONTINUATION_H
#define PIJIT_HIDDEN_CONTINUATION_H

#include "function/dispatch.h"

extern PyTypeObject Rest_Type;

#endif
