/* The eval breaker from CPython 3.13 on: one word per thread. Part of eval_breaker.h.
 *
 * The low bits are requests. The bits above them are the version of sys.monitoring's events, which is never changed
 * here. The garbage collector has a bit of its own, for which kernels do not leave: a kernel that allocates objects
 * would leave again and again. The collection runs after the kernel. */
#ifndef PIJIT_CPYTHON_EVAL_BREAKER_PER_THREAD_INL_H
#define PIJIT_CPYTHON_EVAL_BREAKER_PER_THREAD_INL_H

#include <Python.h>
#include <stdint.h>

#define BREAKER_PER_THREAD 1

enum {
    BREAKER_GIL = 1,
    BREAKER_SIGNALS = 2,
    BREAKER_CALLS = 4,
    BREAKER_EXCEPTION = 8,
    BREAKER_STOP = 32,
    BREAKER_POLLED = BREAKER_GIL | BREAKER_SIGNALS | BREAKER_CALLS | BREAKER_EXCEPTION | BREAKER_STOP,
    BREAKER_ALL = 255
};

/* The word of the current thread, which holds the GIL. */
static inline uintptr_t *
breaker_word(void)
{
    return &PyThreadState_Get()->eval_breaker;
}

static inline int
breaker_is_set(void)
{
    return (__atomic_load_n(breaker_word(), __ATOMIC_RELAXED) & BREAKER_ALL) != 0;
}

/* Whether a kernel must leave: for a pending signal if `signals`, else for any request. The GIL is held. */
static inline int
breaker_polled(int signals)
{
    uintptr_t mask = signals ? BREAKER_SIGNALS : BREAKER_POLLED;
    return (__atomic_load_n(breaker_word(), __ATOMIC_RELAXED) & mask) != 0;
}

/* Hide requests from bytecode until breaker_restore shows them again; later requests set their bits as usual. */
void breaker_hold(void);

#endif
