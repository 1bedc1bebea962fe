/* The eval breaker up to CPython 3.12: an int that all threads share. Part of eval_breaker.h. */
#ifndef PIJIT_CPYTHON_EVAL_BREAKER_SHARED_INL_H
#define PIJIT_CPYTHON_EVAL_BREAKER_SHARED_INL_H

#include <Python.h>

#define BREAKER_PER_THREAD 0

/* The address of the word, which is constant for the life of the process. */
int *breaker_address(void);

/* The address of a word that is not 0 while a signal waits to be handled, or up to CPython 3.7 any pending call. */
int *breaker_signals_address(void);

static inline int
breaker_is_set(void)
{
    return __atomic_load_n(breaker_address(), __ATOMIC_RELAXED) != 0;
}

/* Whether a kernel must leave: for a pending signal if `signals`, else for any request. The GIL is held. */
static inline int
breaker_polled(int signals)
{
    int *word = signals ? breaker_signals_address() : breaker_address();
    return __atomic_load_n(word, __ATOMIC_RELAXED) != 0;
}

/* Hide requests from bytecode until breaker_restore; later requests set the word as usual. */
static inline void
breaker_hold(void)
{
    __atomic_store_n(breaker_address(), 0, __ATOMIC_RELAXED);
}

#endif
