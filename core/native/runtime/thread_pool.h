/* Threads that share the iterations of one loop.
 *
 * The threads are started when they are first needed, wait between loops, and never touch Python. They block signals, so
 * that these reach the threads that Python knows. A loop has the pool for itself: who comes meanwhile runs his own alone,
 * as does a forked child until it starts threads anew. The caller works too and waits for no thread that has not begun, so
 * that a busy machine costs little. */
#ifndef PIJIT_POOL_H
#define PIJIT_POOL_H

#include <stdint.h>

#define POOL_BUFFER 65536       /* bytes */

/* Iterations [begin, end); `buffer` has POOL_BUFFER bytes that are the thread's own, or is NULL in the calling thread. */
typedef void (*PoolBody)(int64_t begin, int64_t end, int64_t *arguments, void *buffer);

/* A loop of `count` iterations that may go on at once. `align`: pieces begin at its multiples. The iterations together are
 * `work`, in units of about 1/32 ns; below `least` one thread does all. Floating-point environment and
 * exception flags are as if the calling thread had done all. */
void pool_run(PoolBody body, int64_t *arguments, int64_t count, int64_t align, int64_t work, int64_t least);

/* How many threads numba, if it is imported, or NUMBA_NUM_THREADS allows the calling thread. The GIL is held. */
int pool_limit(void);

/* Notes that limit for a kernel that is about to run without the GIL; 0 when it is done. */
void pool_limit_keep(int threads);

/* How many threads are there beside those of Python, and how many loops they have shared. */
void pool_counts(int *threads, long long *loops);

#endif
