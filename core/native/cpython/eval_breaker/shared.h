/* The eval breaker up to CPython 3.12: an int that all threads share. Part of eval_breaker.h. */
#ifndef PIJIT_BREAKER_SHARED_H
#define PIJIT_BREAKER_SHARED_H

#define BREAKER_PER_THREAD 0

/* The word's address; the same as long as the process lives. */
int *breaker_address(void);

/* The address of the word that is not 0 while a signal, or up to CPython 3.7 any pending call, waits to be handled. */
int *breaker_signals_address(void);

static inline int
breaker_is_set(void)
{
    return __atomic_load_n(breaker_address(), __ATOMIC_RELAXED) != 0;
}

/* Whether the interpreter has something to do, or has signals to handle, for which a kernel must leave. The GIL is held. */
static inline int
breaker_polled(int signals)
{
    int *word = signals ? breaker_signals_address() : breaker_address();
    return __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

/* Hide requests from bytecode until breaker_restore; one that comes later sets the word as before. */
static inline void
breaker_hold(void)
{
    __atomic_store_n(breaker_address(), 0, __ATOMIC_RELAXED);
}

#endif
