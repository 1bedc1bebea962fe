/* The eval breaker: the word that is not 0 when the interpreter has something to do between two bytecodes -
 * run a signal handler, hand over the GIL, make a pending call, raise an asynchronous exception. Kernels poll
 * it at the back edges of their loops. One implementation per CPython family.
 *
 * A kernel that leaves for it has values that are not stored in the frame yet, and bytecode would look at the
 * word as soon as the launcher returns. So the launcher holds the request back, and linked code lets it go
 * when all is in place. The same where a kernel leaves for another reason, while a request has come. */
#ifndef PIJIT_BREAKER_H
#define PIJIT_BREAKER_H

/* The word's address; the same as long as the process lives. */
int *breaker_address(void);

/* The address of the word that is not 0 while a signal, or up to CPython 3.7 any pending call, waits to be handled. */
int *breaker_signals_address(void);

/* Set the word again if something of what sets it is still to be done. The GIL is held. */
void breaker_restore(void);

/* Whether something that sets the word is for this thread, which is without the GIL: who wants the GIL is not. */
int breaker_asks(PyThreadState *tstate);

/* How often one thread has taken the GIL after another. The GIL is held. */
unsigned long gil_switches(void);

static inline int
breaker_is_set(void)
{
    return __atomic_load_n(breaker_address(), __ATOMIC_RELAXED) != 0;
}

/* Hide requests from bytecode until breaker_restore; one that comes later sets the word as ever. */
static inline void
breaker_hold(void)
{
    __atomic_store_n(breaker_address(), 0, __ATOMIC_RELAXED);
}

#endif
