/* Calls of C functions that survive abort(): an assertion of LLVM that fails ends one compilation, not the process.
 *
 * abort() raises SIGABRT in the thread that calls it. The handler jumps back to the caller. POSIX allows that, so the C
 * library keeps no lock. Memory that the function had reserved is lost, and its arguments must not be used again. */
#define _POSIX_C_SOURCE 200809L

#include "signals/abort_capture.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*Function)(void *, void *, void *);

/* What a function writes to the C library's stderr is collected, because an assertion that fails writes there. Only
 * glibc lets a program exchange that stream. */
typedef struct {
    FILE *own;
    FILE *collects; /* NULL: nothing is collected */
    char *text;     /* owned; there once `collects` is closed */
    size_t size;
} ErrorStream;

/* The call that runs. Written by the thread that calls, under the GIL; one call runs at a time. */
static struct {
    volatile sig_atomic_t runs;
    pthread_t thread;
    sigjmp_buf landing;
    struct sigaction before; /* what handled SIGABRT */
    ErrorStream stream;
} capture;

static void
land(int number)
{
    if (capture.runs && pthread_equal(pthread_self(), capture.thread)) {
        siglongjmp(capture.landing, 1);
    }
    sigaction(number, &capture.before, NULL); /* another thread aborts: as without this handler */
    raise(number);
}

static void
stream_open(void)
{
    capture.stream = (ErrorStream){.own = stderr};
#ifdef __GLIBC__
    capture.stream.collects = open_memstream(&capture.stream.text, &capture.stream.size);
    if (capture.stream.collects != NULL) {
        stderr = capture.stream.collects;
    }
#endif
}

static void
stream_restore(void)
{
#ifdef __GLIBC__
    if (capture.stream.collects != NULL) {
        stderr = capture.stream.own;
    }
#endif
}

/* A child that another thread has forked runs no call. */
static void
forget_in_child(void)
{
    if (capture.runs) {
        stream_restore();
        sigaction(SIGABRT, &capture.before, NULL);
        capture.runs = 0;
    }
}

/* Whether the function called abort(). */
static int
run_until_abort(Function function, void *const arguments[3])
{
    if (sigsetjmp(capture.landing, 1) != 0) {
        return 1;
    }
    function(arguments[0], arguments[1], arguments[2]);
    return 0;
}

/* Close the stream. A new reference: its text if the function aborted, else None, and the text goes to stderr. */
static PyObject *
answer_make(int aborted)
{
    ErrorStream *stream = &capture.stream;
    if (stream->collects == NULL || fclose(stream->collects) != 0) {
        stream->size = 0;
    }
    PyObject *answer = Py_None; /* owned, given away */
    if (aborted) {
        answer = PyUnicode_DecodeUTF8(stream->size ? stream->text : "", (Py_ssize_t)stream->size, "replace");
    }
    else {
        Py_INCREF(answer);
        if (stream->size != 0) {
            fwrite(stream->text, 1, stream->size, stderr);
            fflush(stderr);
        }
    }
    free(stream->text);
    return answer;
}

PyObject *
call_until_abort(PyObject *Py_UNUSED(module), PyObject *args)
{
    static int is_registered; /* under the GIL */
    Py_ssize_t address, words[3];
    if (!PyArg_ParseTuple(args, "nnnn:call_until_abort", &address, &words[0], &words[1], &words[2])) {
        return NULL;
    }
    if (address == 0 || capture.runs) {
        PyErr_SetString(PyExc_ValueError, address == 0 ? "no function has the address 0" : "another call runs");
        return NULL;
    }
    if (!is_registered && (errno = pthread_atfork(NULL, NULL, forget_in_child)) != 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    is_registered = 1;
    struct sigaction own = {.sa_handler = land};
    sigemptyset(&own.sa_mask);
    if (sigaction(SIGABRT, &own, &capture.before) < 0) {
        return PyErr_SetFromErrno(PyExc_OSError);
    }
    void *const arguments[3] = {(void *)words[0], (void *)words[1], (void *)words[2]};
    int aborted;
    stream_open();
    capture.thread = pthread_self();
    capture.runs = 1;
    Py_BEGIN_ALLOW_THREADS
    aborted = run_until_abort((Function)address, arguments);
    Py_END_ALLOW_THREADS
    stream_restore();
    sigaction(SIGABRT, &capture.before, NULL);
    capture.runs = 0;
    return answer_make(aborted);
}
