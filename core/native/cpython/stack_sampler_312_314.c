/* The stack sampler, from CPython 3.12 on: see stack_sampler.h. */
#include "cpython/stack_sampler.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include "cpython/function_hooks.h"

#define PERIOD 10000000    /* ns between two samples */
#define LONGEST 160000000  /* ns between two samples while the main thread runs no pending calls */
#define DEEPEST 128        /* the number of frames of a sample, from the innermost on */
#define SECOND 1000000000L /* ns */

static struct {
    pthread_t thread;
    pthread_mutex_t lock; /* of `stops` and `queued` */
    pthread_cond_t wake;  /* signalled when `stops` is set */
    int runs;             /* under the GIL: whether there is a thread */
    int ended;            /* under the GIL: whether the sampler is stopped for good */
    int stops;            /* whether the thread shall end */
    int queued;           /* whether a pending call waits for the main thread */
    int64_t before;       /* the main thread's processor time at the last sample */
    unsigned long samples;
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* The processor time of the current thread. */
static int64_t
thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

/* Whether the current thread is the main thread of the main interpreter, and its only one. */
static int
is_only_thread(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    PyThreadState *first = PyInterpreterState_ThreadHead(interpreter);
    return interpreter == PyInterpreterState_Main() && PyThreadState_Next(first) == NULL;
}

/* The pending call: one sample of the main thread, which runs it. Functions that other threads may call are hooked. */
static int
sample_take(void *Py_UNUSED(unused))
{
    pthread_mutex_lock(&sampler.lock);
    sampler.queued = 0;
    pthread_mutex_unlock(&sampler.lock);
    if (!is_only_thread()) {
        hooks_install_all();
        return 0;
    }
    int64_t now = thread_ns(), ns = now - sampler.before;
    sampler.before = now;
    sampler.samples++;
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()); /* owned */
    for (int depth = 0; frame != NULL && depth < DEEPEST; depth++) {
        PyCodeObject *code = PyFrame_GetCode(frame); /* owned */
        hooks_add_sample((PyObject *)code, ns, sampler.samples);
        Py_DECREF(code);
        PyFrameObject *back = PyFrame_GetBack(frame); /* owned */
        Py_SETREF(frame, back);
    }
    Py_XDECREF(frame);
    return 0;
}

/* Wait for the next sample, without the GIL: whether there shall be one. */
static int
sample_wait(int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_cond_timedwait */
    until.tv_sec += (until.tv_nsec + ns) / SECOND;
    until.tv_nsec = (until.tv_nsec + ns) % SECOND;
    while (!sampler.stops && pthread_cond_timedwait(&sampler.wake, &sampler.lock, &until) == 0) {
    }
    return !sampler.stops;
}

static void *
sampler_run(void *Py_UNUSED(unused))
{
    int64_t period = PERIOD;
    pthread_mutex_lock(&sampler.lock);
    while (sample_wait(period)) {
        period = !sampler.queued ? PERIOD : period < LONGEST ? 2 * period : LONGEST;
        if (!sampler.queued) {
            sampler.queued = 1;
            pthread_mutex_unlock(&sampler.lock);
            int refused = Py_AddPendingCall(sample_take, NULL) < 0;
            pthread_mutex_lock(&sampler.lock);
            sampler.queued = sampler.queued && !refused;
        }
    }
    pthread_mutex_unlock(&sampler.lock);
    return NULL;
}

int
sampler_start(void)
{
    if (sampler.ended || !is_only_thread()) {
        return 0;
    }
    if (!sampler.runs) {
        /* The thread must not take signals that would interrupt a system call of the main thread. */
        sigset_t all, old;
        sigfillset(&all);
        sampler.stops = sampler.queued = 0;
        sampler.before = thread_ns();
        pthread_sigmask(SIG_SETMASK, &all, &old);
        sampler.runs = pthread_create(&sampler.thread, NULL, sampler_run, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    return sampler.runs;
}

void
sampler_stop(int for_good)
{
    sampler.ended |= for_good;
    if (sampler.runs) {
        sampler.runs = 0;
        pthread_mutex_lock(&sampler.lock);
        sampler.stops = 1;
        pthread_cond_signal(&sampler.wake);
        pthread_mutex_unlock(&sampler.lock);
        pthread_join(sampler.thread, NULL);
    }
}
