/* The stack sampler, from CPython 3.11 on: see stack_sampler.h.
 *
 * A pending call would not do: on CPython 3.12 the main thread does not notice those that other threads queue. */
#include "cpython/function_hooks/stack_sampler.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include "cpython/function_hooks/function_hooks.h"

#define PERIOD 20000000    /* ns between two samples */
#define LONGEST 320000000  /* ns between two samples while the program waits */
#define IDLE 1000000       /* ns of processor time in a period; a program that uses less waits */
#define DEEPEST 128        /* the number of frames of a sample, from the innermost on */
#define MOST_THREADS 64    /* the number of threads whose last times are kept */
#define SECOND 1000000000L /* ns */

/* What a thread had used at the last sample. */
typedef struct {
    uint64_t thread; /* its number */
    int64_t ns;      /* processor time */
} ThreadTime;

static struct {
    pthread_t thread;
    int runs;             /* under the GIL: whether there is a thread */
    PyThreadState *own;   /* under the GIL, owned by the thread: its state; NULL before and after */
    int ending;           /* under the GIL: whether a thread waits for the end of the sampler's */
    int ended;            /* under the GIL: whether the sampler is stopped for good */
    pthread_mutex_t lock; /* of `stops` */
    pthread_cond_t wake;  /* signalled when `stops` is set */
    int stops;            /* whether the thread shall end */
    unsigned long samples;
    ThreadTime times[MOST_THREADS]; /* by the number of the thread, modulo their count */
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

/* The processor time of the process. */
static int64_t
process_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

/* The processor time of a thread, or -1 where the system does not tell. */
static int64_t
thread_ns(PyThreadState *thread)
{
#ifdef __linux__
    /* The kernel's number for the clock of a thread. pthread_getcpuclockid must not be asked about a thread that has
     * ended; the kernel may. */
    struct timespec time;
    clockid_t clock = (clockid_t)(~(unsigned int)thread->native_thread_id << 3 | 6);
    if (clock_gettime(clock, &time) == 0) {
        return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
    }
#endif
    return -1;
}

/* The processor time of a thread since the last sample, of `ns` of the process. Where the system does not tell, the time
 * may be that of other native threads. */
static int64_t
thread_spent(PyThreadState *thread, int64_t ns)
{
    int64_t now = thread_ns(thread);
    if (now < 0) {
        return ns < 2 * PERIOD ? ns : 2 * PERIOD;
    }
    uint64_t number = PyThreadState_GetID(thread);
    ThreadTime *before = &sampler.times[number % MOST_THREADS];
    int64_t spent = before->thread == number ? now - before->ns : now;
    *before = (ThreadTime){number, now};
    return spent < ns ? spent : ns;
}

/* Add processor time to the functions on a stack. Takes over the innermost frame. */
static void
stack_add(PyFrameObject *frame, int64_t ns)
{
    for (int depth = 0; frame != NULL && depth < DEEPEST; depth++) {
        PyCodeObject *code = PyFrame_GetCode(frame); /* owned */
        hooks_add_sample((PyObject *)code, ns, sampler.samples);
        Py_DECREF(code);
        PyFrameObject *back = PyFrame_GetBack(frame); /* owned */
        Py_SETREF(frame, back);
    }
    Py_XDECREF(frame);
}

/* With the GIL: one sample. */
static void
sample_take(int64_t ns)
{
    sampler.samples++;
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Main());
    for (; thread != NULL; thread = PyThreadState_Next(thread)) {
        PyFrameObject *frame = thread != sampler.own ? PyThreadState_GetFrame(thread) : NULL; /* owned, given away */
        int64_t spent = frame != NULL ? thread_spent(thread, ns) : 0;
        if (spent > 0) {
            stack_add(frame, spent);
        }
        else {
            Py_XDECREF(frame);
        }
    }
}

/* Wait for the next sample: whether there shall be one. */
static int
sample_wait(int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_cond_timedwait */
    until.tv_sec += (until.tv_nsec + ns) / SECOND;
    until.tv_nsec = (until.tv_nsec + ns) % SECOND;
    pthread_mutex_lock(&sampler.lock);
    while (!sampler.stops && pthread_cond_timedwait(&sampler.wake, &sampler.lock, &until) == 0) {
    }
    int goes_on = !sampler.stops;
    pthread_mutex_unlock(&sampler.lock);
    return goes_on;
}

static void *
sampler_run(void *Py_UNUSED(unused))
{
    /* Made here, because a state has the identifier of the thread that makes it, which finds threads for exceptions. */
    PyThreadState *own = PyThreadState_New(PyInterpreterState_Main()); /* owned */
    if (own == NULL) {
        return NULL;
    }
    PyEval_RestoreThread(own);
    sampler.own = own;
    PyEval_SaveThread();
    int64_t period = PERIOD, before = process_ns();
    while (sample_wait(period)) {
        int64_t now = process_ns(), ns = now - before;
        before = now;
        if (ns >= IDLE) {
            PyEval_RestoreThread(own);
            sample_take(ns);
            PyEval_SaveThread();
        }
        period = ns >= IDLE ? PERIOD : period < LONGEST ? 2 * period : LONGEST;
    }
    PyEval_RestoreThread(own);
    sampler.own = NULL;
    PyThreadState_Clear(own);
    PyThreadState_DeleteCurrent();
    return NULL;
}

int
sampler_start(void)
{
    PyInterpreterState *interpreter = PyThreadState_GetInterpreter(PyThreadState_Get());
    if (sampler.ended || sampler.ending || interpreter != PyInterpreterState_Main()) {
        return 0;
    }
    if (!sampler.runs) {
        /* The thread must not take signals that would interrupt a system call of the main thread. */
        sigset_t all, old;
        sigfillset(&all);
        sampler.stops = 0;
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
    while (sampler.ending) {
        Py_BEGIN_ALLOW_THREADS;
        sched_yield();
        Py_END_ALLOW_THREADS;
    }
    if (!sampler.runs) {
        return;
    }
    sampler.ending = 1;
    pthread_mutex_lock(&sampler.lock);
    sampler.stops = 1;
    pthread_cond_signal(&sampler.wake);
    pthread_mutex_unlock(&sampler.lock);
    Py_BEGIN_ALLOW_THREADS;
    pthread_join(sampler.thread, NULL);
    Py_END_ALLOW_THREADS;
    sampler.ending = sampler.runs = 0;
}
