/* The C interface of pijit.core._launcher: running a kernel before its function has a frame.
 *
 * All functions need the GIL and are called without an exception set. */
#ifndef PIJIT_LAUNCH_API_H
#define PIJIT_LAUNCH_API_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "capsule.h"

#define LAUNCH_API_VERSION 5
#define MOST_LEFT 16
#define LAUNCH_API_CAPSULE "pijit.core._launcher._C_API"

typedef enum {
    LAUNCH_MISSED,               /* nothing was done; no exception is set */
    LAUNCH_RETURNED,             /* *result is what the function returns, a NEW reference */
    LAUNCH_LEFT,                 /* the function goes on in bytecode: *result is the launcher's answer, a NEW
                                    reference, or NULL with the exception set that bytecode is to get */
    LAUNCH_LANDED                /* the function goes on in bytecode, with the values in a Left; *result is NULL */
} Launched;

/* Which exits leave their values here instead of in an answer, and what one has left. */
typedef struct {
    const char *lands;           /* for each exit: 1 + the number of its values; 0: in an answer */
    Py_ssize_t nexits;
    Py_ssize_t exit, count;      /* which one, and how many values there are */
    PyObject *values[MOST_LEFT]; /* NEW references */
} Left;

/* What a kernel that ran before there was a frame has left to say: its launcher answers with it, once, when linked
 * code that `running` runs calls it, and the launchers tried before it decline. Lives on the C stack. */
typedef struct HandOver {
    PyObject *launcher;          /* borrowed from the linked code */
    const void *running;         /* what runs the linked code, only its identity counts: the frame, or from CPython 3.11 on
                                    what the function says that set_running was told */
    PyObject *answer;            /* owned; NULL: the exception */
    PyObject *type, *value, *traceback;  /* owned */
    struct HandOver *outer;
    int taken;
} HandOver;

/* How long kernels take, while somebody wants to know; one inside another counts twice. */
typedef struct {
    int watchers;
    int64_t ns;
} KernelClock;

typedef struct {
    int version;

    /* Runs the kernel of a segment that starts where the function does, for its inputs under guards that hold. */
    Launched (*launch)(PyObject *launcher, PyObject *const *inputs, Py_ssize_t ninputs, PyObject *globals,
                       PyObject *builtins, Left *left, PyObject **result);

    /* Around a run of linked code, `running` (see HandOver); launcher, answer and exception are set. Neither fails. */
    void (*hand_over)(HandOver *over, const void *running);
    void (*hand_over_end)(HandOver *over);

    int (*is_launcher)(PyObject *object);

    /* Grows with each window in which a loop was measured (loop_timing.h). */
    const int64_t *loop_windows;

    KernelClock *kernel_clock;

    /* From CPython 3.11 on, where no frame is looked at: tells launchers how to ask which run of linked code is the one that
     * calls them, NULL for none. It is called with the GIL, and does not fail. */
    void (*set_running)(const void *(*running)(void));
} LaunchAPI;

/* The API of the imported pijit.core._launcher, or NULL with an exception set. */
static inline const LaunchAPI *
launch_import_api(void)
{
    return capsule_import_api("pijit.core._launcher", LAUNCH_API_CAPSULE, LAUNCH_API_VERSION);
}

#endif
