/* The Launcher object, and what the files that make it (launcher.c) and call it (launch.c) need of each other. */
#ifndef PIJIT_LAUNCHER_OBJECT_H
#define PIJIT_LAUNCHER_OBJECT_H

#include "launcher/codes.h"
#include "evaluate.h"
#include "launcher/reentry_gate.h"
#include "launcher/launch_api.h"
#include "launcher/loop_timing.h"

typedef struct {
    PyObject_HEAD
    PyObject *program;          /* owned, or NULL: the call arguments are the inputs */
    PyObject *globals;          /* owned, or NULL: those of the calling frame */
    PyObject *builtins;         /* owned, or NULL: those of the calling frame */
    PyObject *python_kernel;    /* owned, or NULL */
    PyObject *callable;         /* owned: makes a cycle with this object, hence the GC support */
    PyObject *miss;             /* owned: the shared answer of a miss */
    PyObject *name;             /* owned */
    PyObject *owner;            /* owned: keeps the machine code alive */
    PyObject *prepare;          /* owned, or NULL: makes the kernel at the first call */
    PyObject *entry;            /* owned, or NULL: the program of the entry that this segment belongs to */
    LoopTrial *trial;           /* owned, or NULL: measures the loop that this is in */
    KernelFunction kernel;
    Input *inputs;              /* owned */
    Py_ssize_t ninputs;
    Py_ssize_t *slots;          /* owned: locals of the calling frame that come behind the arguments, bound or not */
    Py_ssize_t nslots;
    Exit *exits;                /* owned; NULL in a cleared launcher */
    Py_ssize_t nexits;
    Py_ssize_t words;
    Py_ssize_t output_word;
    Py_ssize_t width;
    long long *causes;          /* owned, or NULL: how often each was why the kernel left, from number 1 on */
    Py_ssize_t ncauses;
    long long calls;
    long long misses;
    int enabled;
    int nogil;                  /* whether the kernel runs without the GIL */
    char clock;                 /* its calls are those that the trial counts */
    int doubts;                 /* guard failures while the entry's guards held */
    Gate gate;                  /* of a re-entry */
} Launcher;

/* launch.c: set when the first launcher with a guard program is made. */
extern const GuardsAPI *guards_api;

/* launch.c: what runs kernels moves it on. */
extern KernelClock kernel_clock;

/* launch.c: checks what calls rely on; 0, or -1 with an exception set. */
int launch_ready(void);

/* launch.c: runs the kernel on a region's live-ins. A new reference: the answer, or NULL with an exception set. */
PyObject *launcher_call(PyObject *object, PyObject *const *values, Py_ssize_t nvalues);

/* launch.c: LaunchAPI.launch. */
Launched launcher_launch(PyObject *object, PyObject *const *inputs, Py_ssize_t ninputs, PyObject *globals,
                         PyObject *builtins, Left *left, PyObject **result);

/* hand_over.c: what is to be said in frames that have just started, innermost first; all threads'. */
extern HandOver *hand_overs;

/* hand_over.c: whether the frame that calls the launcher is one of those; then *answer is a new reference, or NULL
 * with an exception set. */
int hand_over_take(Launcher *launcher, PyObject **answer);

/* hand_over.c: adds the C API to the module; 0, or -1 with an exception set. */
int launch_api_register(PyObject *module, PyTypeObject *launcher_type);

/* launcher.c: makes the kernel: 1, or 0 if there is none for it, or -1 with an exception set. */
int kernel_prepare(Launcher *self);

#endif
