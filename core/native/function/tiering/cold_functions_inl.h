/* Cold functions: the time of their calls is added up, and `ask` decides when they are worth compiling; inlined functions. */
#ifndef PIJIT_FUNCTION_TIERING_COLD_FUNCTIONS_INL_H
#define PIJIT_FUNCTION_TIERING_COLD_FUNCTIONS_INL_H

#include "function/tiering/cold_functions.h"
#include "launcher/timing/clock_inl.h"

/* The nanoseconds in calls of a function so far, including the current one. */
static inline int64_t
heat_so_far(const Heat *heat)
{
    return heat->spent + (heat->start != 0 ? now_ns() - heat->start : 0);
}

/* Whether calls run the original function. */
static inline int
heat_is_plain(const Heat *heat)
{
    return heat->ask != NULL && !heat->looping;
}

#endif
