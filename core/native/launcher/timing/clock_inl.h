/* The monotonic clock for timing calls. */
#ifndef PIJIT_LAUNCHER_TIMING_CLOCK_INL_H
#define PIJIT_LAUNCHER_TIMING_CLOCK_INL_H

#include <Python.h> /* before system headers: it chooses what they declare */
#include <stdint.h>
#include <time.h>

static inline int64_t
now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

#endif
