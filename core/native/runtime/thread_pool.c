/* Thread pool: threads that share the iterations of one loop; see thread_pool.h. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "runtime/thread_pool.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include "runtime/ufuncs/library_calls.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#define MOST_THREADS 64
#define PIECES 4 /* per thread, so that others can take over the share of a delayed thread */
#define STACK_BYTES (1 << 20)

typedef struct {
    PoolBody body;
    int64_t *arguments;
    int64_t count, piece;
    int64_t next;       /* atomic: the first iteration that no thread has taken */
    int places;         /* number of threads that may still join */
    int working;        /* number of threads that have joined and are not done */
    int flags;          /* floating-point exceptions that the threads have raised */
    fenv_t environment; /* floating-point environment of the calling thread */
} Job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Job *job; /* on the caller's stack; NULL if there is none to join */
    int threads;
    long long loops; /* number of loops that threads have shared */
    int busy;        /* atomic: a loop uses the pool */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static __thread int kept_limit;

/* ---- threads ---- */

static void
job_work(Job *job, void *buffer)
{
    int64_t begin;
    while ((begin = __atomic_fetch_add(&job->next, job->piece, __ATOMIC_RELAXED)) < job->count) {
        int64_t end = job->count - begin < job->piece ? job->count : begin + job->piece;
        job->body(begin, end, job->arguments, buffer);
    }
}

static void *
thread_main(void *Py_UNUSED(nothing))
{
    char buffer[POOL_BUFFER] __attribute__((aligned(64)));
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.job == NULL || pool.job->places == 0) {
            pthread_cond_wait(&pool.wake, &pool.lock);
        }
        Job *job = pool.job;
        job->places--;
        job->working++;
        pthread_mutex_unlock(&pool.lock);
        fesetenv(&job->environment);
        feclearexcept(FE_ALL_EXCEPT);
        job_work(job, buffer);
        int flags = fetestexcept(FE_ALL_EXCEPT);
        pthread_mutex_lock(&pool.lock);
        job->flags |= flags;
        if (--job->working == 0) {
            pthread_cond_signal(&pool.done);
        }
    }
    return NULL;
}

/* Starts threads until there are `wanted`, or no more can be started. The lock must be held. */
static void
pool_grow(int wanted)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    if (pool.threads >= wanted || pthread_attr_init(&attributes) != 0) {
        return;
    }
    sigfillset(&all);
    if (pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0
        && pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 && pthread_sigmask(SIG_SETMASK, &all, &before) == 0) {
        while (pool.threads < wanted && pthread_create(&thread, &attributes, thread_main, NULL) == 0) {
            pool.threads++;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
}

/* ---- forks ---- */

static void
fork_prepare(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void
fork_parent(void)
{
    pthread_mutex_unlock(&pool.lock);
}

/* The child process only has the thread that forked. */
static void
fork_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.job = NULL;
    pool.threads = pool.busy = 0;
}

static int fork_status;

static void
fork_register(void)
{
    fork_status = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- loops ---- */

/* The number of threads that are worthwhile. Each must have at least half of `least` to do. */
static int64_t
threads_for(int64_t work, int64_t least)
{
    int64_t worth = work / (least / 2 + 1);
    if (work < least || worth < 2) {
        return 1;
    }
    int limit = kept_limit > 0 ? kept_limit : pool_limit();
    return worth < limit ? worth : limit;
}

static void
job_share(Job *job, int helpers)
{
    fegetenv(&job->environment);
    pthread_mutex_lock(&pool.lock);
    pool_grow(helpers);
    pool.loops++;
    job->places = helpers;
    pool.job = job;
    for (int i = 0; i < helpers; i++) {
        pthread_cond_signal(&pool.wake);
    }
    pthread_mutex_unlock(&pool.lock);
    job_work(job, NULL);
    pthread_mutex_lock(&pool.lock);
    pool.job = NULL;
    while (job->working > 0) {
        pthread_cond_wait(&pool.done, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    if (job->flags != 0) {
        own_status_raise(job->flags);
    }
}

void
pool_run(PoolBody body, int64_t *arguments, int64_t count, int64_t align, int64_t work, int64_t least)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int64_t threads = count > align ? threads_for(work, least) : 1;
    if (threads < 2 || pthread_once(&once, fork_register) != 0 || fork_status != 0
        || __atomic_exchange_n(&pool.busy, 1, __ATOMIC_ACQUIRE)) {
        body(0, count, arguments, NULL);
        return;
    }
    int64_t pieces = threads * PIECES, piece = (count + pieces - 1) / pieces;
    Job job = {.body = body, .arguments = arguments, .count = count, .piece = (piece + align - 1) / align * align};
    job_share(&job, (int)threads - 1);
    __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
}

/* ---- number of threads ---- */

/* The result of numba.get_num_threads, or NULL without an exception. numba's threads must have been started.
 *
 * The public function is not called: it takes a lock that numba shares between processes. A child that is forked while
 * another thread has this lock never gives it back. breaker_hold hides pending requests to the interpreter, because
 * none may be handled while a kernel runs. An interrupt that arrives nevertheless is requested again. */
static PyObject *
numba_asked(PyObject *parallel)
{
    breaker_hold();
    PyObject *answer = PyObject_CallMethod(parallel, "_get_num_threads", NULL); /* new: the result */
    breaker_restore();
    if (answer == NULL) {
        int interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt);
        PyErr_Clear();
        if (interrupted) {
            PyErr_SetInterrupt();
        }
    }
    return answer;
}

/* numba's limit: that of numba.set_num_threads for this thread, or the one at its import. 0 if numba is not
 * imported. */
static long
numba_limit(void)
{
    PyObject *modules = PyImport_GetModuleDict();                                  /* borrowed */
    PyObject *parallel = PyDict_GetItemString(modules, "numba.np.ufunc.parallel"); /* borrowed */
    PyObject *config = PyDict_GetItemString(modules, "numba.core.config");         /* borrowed */
    PyObject *started = NULL, *answer = NULL;                                      /* owned */
    long limit = 0;
    if (parallel != NULL) {
        started = PyObject_GetAttrString(parallel, "_is_initialized");
    }
    if (started == Py_True) {
        answer = numba_asked(parallel);
    }
    else if (config != NULL) {
        PyErr_Clear();
        answer = PyObject_GetAttrString(config, "NUMBA_NUM_THREADS");
    }
    if (answer != NULL) {
        limit = PyLong_AsLong(answer);
    }
    PyErr_Clear(); /* another version of numba may lack an attribute */
    Py_XDECREF(started);
    Py_XDECREF(answer);
    return limit;
}

/* The number of processors that this process may use. */
static long
processors(void)
{
#ifdef CPU_COUNT
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0) {
        return CPU_COUNT(&set);
    }
#endif
    return sysconf(_SC_NPROCESSORS_ONLN);
}

int
pool_limit(void)
{
    const char *given = getenv("NUMBA_NUM_THREADS");
    long limit = numba_limit();
    if (limit <= 0 && given != NULL) {
        limit = strtol(given, NULL, 10);
    }
    if (limit <= 0) {
        limit = processors();
    }
    return limit < 1 ? 1 : limit < MOST_THREADS ? (int)limit : MOST_THREADS;
}

void
pool_counts(int *threads, long long *loops)
{
    pthread_mutex_lock(&pool.lock);
    *threads = pool.threads;
    *loops = pool.loops;
    pthread_mutex_unlock(&pool.lock);
}

void
pool_limit_keep(int threads)
{
    kept_limit = threads;
}
