/* The eval breaker from CPython 3.13 on: a word of each thread. Part of eval_breaker.h.
 *
 * Its low bits say what is to be done; above them is the version of sys.monitoring's events, which stays as it is. The
 * collector asks by a bit too. A kernel does not leave for that: what it allocates would let it leave again and again. The
 * collection comes when the kernel has left. */
#ifndef PIJIT_BREAKER_PER_THREAD_H
#define PIJIT_BREAKER_PER_THREAD_H

#define BREAKER_PER_THREAD 1

enum {
    BREAKER_GIL = 1, BREAKER_SIGNALS = 2, BREAKER_CALLS = 4, BREAKER_EXCEPTION = 8, BREAKER_STOP = 32,
    BREAKER_POLLED = BREAKER_GIL | BREAKER_SIGNALS | BREAKER_CALLS | BREAKER_EXCEPTION | BREAKER_STOP,
    BREAKER_ALL = 255
};

/* The word of the thread that has the GIL, which is this one. */
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

/* Whether the interpreter has something to do, or has signals to handle, for which a kernel must leave. The GIL is held. */
static inline int
breaker_polled(int signals)
{
    uintptr_t mask = signals ? BREAKER_SIGNALS : BREAKER_POLLED;
    return (__atomic_load_n(breaker_word(), __ATOMIC_RELAXED) & mask) != 0;
}

/* Hide requests from bytecode until breaker_restore, which shows the same ones; one that comes later sets its bit as before. */
void breaker_hold(void);

#endif
