/* Thread pool: threads that share the iterations of one loop.
 *
 * Threads are started when first needed, wait between loops, and never touch Python. They block signals, so that
 * Python's threads receive these. One loop at a time uses the pool. A loop that starts meanwhile runs on its own thread
 * alone. A forked child does the same until it starts threads of its own. The calling thread works, too. It waits for
 * no thread that has not begun, so a busy machine costs little. */
#ifndef PIJIT_POOL_H
#define PIJIT_POOL_H

#include <stdint.h>

#define POOL_BUFFER 65536 /* bytes */

/* Runs iterations [begin, end). `buffer` has POOL_BUFFER bytes of the thread's own, or is NULL in the calling
 * thread. */
typedef void (*PoolBody)(int64_t begin, int64_t end, int64_t *arguments, void *buffer);

/* Runs `count` iterations, which must be independent. Pieces begin at multiples of `align`. `work` is the total work,
 * in units of about 1/32 ns. Below `least`, one thread does all. The floating-point environment and exception flags are
 * as if the calling thread had done all. */
void pool_run(PoolBody body, int64_t *arguments, int64_t count, int64_t align, int64_t work, int64_t least);

/* The number of threads that numba, if imported, or NUMBA_NUM_THREADS allows the calling thread. The GIL must be
 * held. */
int pool_limit(void);

/* Stores that limit for a kernel that is about to run without the GIL. 0 resets it. */
void pool_limit_keep(int threads);

/* The number of threads in the pool, and of loops that they have shared. */
void pool_counts(int *threads, long long *loops);

#endif
