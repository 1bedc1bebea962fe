/* Checks at each call of a JitFunction, before it runs: for `hash_args` and `input_signature`; inlined functions. */
#ifndef PIJIT_FUNCTION_CALL_CHECKS_INL_H
#define PIJIT_FUNCTION_CALL_CHECKS_INL_H

#include "function/call_checks.h"

static inline int
watch_is_on(const Watch *watch)
{
    return watch->before != NULL || watch->check != NULL;
}

#endif
