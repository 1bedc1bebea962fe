/* C interface of pijit.core._launcher: runs a kernel before its function has a frame.
 *
 * capsule_inl.h imports the struct. All functions require the GIL and are called without an exception set. */
#ifndef PIJIT_LAUNCH_API_H
#define PIJIT_LAUNCH_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#define LAUNCH_API_VERSION 7
#define MOST_LEFT 16
#define LAUNCH_MODULE "pijit.core._launcher"
#define LAUNCH_API_CAPSULE LAUNCH_MODULE "._C_API"

typedef enum {
    LAUNCH_MISSED,   /* nothing was done; no exception is set */
    LAUNCH_RETURNED, /* *result is the result of the function, a NEW reference */
    LAUNCH_LEFT,     /* the function goes on in bytecode: *result is the launcher's answer, a NEW
                                    reference, or NULL with the exception set that bytecode must raise */
    LAUNCH_LANDED    /* the function goes on in bytecode, with the values in a Left; *result is NULL */
} Launched;

/* The exits that store their values here instead of in an answer, and the values of the exit that was taken. */
typedef struct {
    const char *lands; /* for each exit: 1 + the number of its values; 0: it makes an answer */
    Py_ssize_t nexits;
    Py_ssize_t exit, count;      /* the exit that was taken, and the number of its values */
    PyObject *values[MOST_LEFT]; /* NEW references */
} Left;

/* The answer of a kernel that ran before there was a frame. Its launcher returns it, once, when the linked code of
 * the run `running` calls the launcher; launchers called before it return MISS. It is on the C stack. */
typedef struct HandOver {
    PyObject *launcher;                 /* borrowed from the linked code */
    const void *running;                /* the run of the linked code, only its identity is used: the frame, or from CPython
                                    3.11 on the result of the function given to set_running */
    PyObject *answer;                   /* owned; NULL: the exception */
    PyObject *type, *value, *traceback; /* owned */
    struct HandOver *outer;
    int taken;
} HandOver;

/* The time in kernels, measured while there are watchers; a kernel inside another one counts twice. */
typedef struct {
    int watchers;
    int64_t ns;
} KernelClock;

/* A call or a kernel run whose time is taken (kernel_profile.h). */
typedef struct {
    int64_t start;      /* in ns */
    int64_t outside_ns; /* the time of earlier spans inside the one that contains this one */
} Span;

typedef struct {
    int version;

    /* Runs the kernel of a segment that begins at the function's start, for inputs whose guards hold. */
    Launched (*launch)(PyObject *launcher, PyObject *const *inputs, Py_ssize_t ninputs, PyObject *globals, PyObject *builtins,
                       Left *left, PyObject **result);

    /* Called around a run of linked code, `running` (see HandOver); launcher, answer and exception are set. Cannot
     * fail. */
    void (*hand_over)(HandOver *over, const void *running);
    void (*hand_over_end)(HandOver *over);

    int (*is_launcher)(PyObject *object);

    /* The number of windows in which a loop was measured (loop_timing.h). */
    const int64_t *loop_windows;

    KernelClock *kernel_clock;

    /* From CPython 3.11 on, where frames are not read: gives launchers a function that returns the run of linked code
     * that is calling them, or NULL. It is called with the GIL, and cannot fail. */
    void (*set_running)(const void *(*running)(void));

    /* Around a span, on one thread; spans nest. span_end returns the nanoseconds that were spent in no span inside it.
     * Neither touches an exception. */
    void (*span_begin)(Span *span);
    int64_t (*span_end)(Span *span);

    /* Gives callbacks a function that tells whether this thread runs all code as it is. It is called with the GIL. */
    void (*set_off)(int (*off)(void));
} LaunchAPI;

#endif
