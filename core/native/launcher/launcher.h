/* The Launcher object, and the interface between launcher.c, which makes it, and launch.c, which runs it. */
#ifndef PIJIT_LAUNCHER_OBJECT_H
#define PIJIT_LAUNCHER_OBJECT_H

#include "evaluate.h"
#include "launcher/codes/codes.h"
#include "launcher/launch_api.h"
#include "launcher/timing/loop_timing.h"
#include "launcher/reentry_gate_inl.h"

typedef struct {
    PyObject_HEAD
    PyObject *program;               /* owned, or NULL: the call arguments are the inputs */
    const LocalChecks *local_checks; /* borrowed from the program, or NULL */
    PyObject *globals;               /* owned, or NULL: those of the calling frame */
    PyObject *builtins;              /* owned, or NULL: those of the calling frame */
    PyObject *python_kernel;         /* owned, or NULL */
    PyObject *callable;              /* owned: in a reference cycle with this object, hence the GC support */
    PyObject *miss;                  /* owned: the shared answer of a miss */
    PyObject *name;                  /* owned */
    PyObject *owner;                 /* owned: keeps the machine code alive */
    PyObject *prepare;               /* owned, or NULL: makes the kernel at the first call */
    PyObject *entry;                 /* owned, or NULL: the program of the entry that this segment belongs to */
    LoopTiming *timing;              /* owned, or NULL: A/B timing of the loop that contains this segment */
    KernelCode kernel;
    Input *inputs; /* owned */
    Py_ssize_t ninputs;
    Py_ssize_t *slots; /* owned: locals of the calling frame to pass after the arguments, maybe unbound */
    Py_ssize_t nslots;
    Exit *exits; /* owned; NULL in a cleared launcher */
    Py_ssize_t nexits;
    Py_ssize_t words;
    Py_ssize_t output_word;
    Py_ssize_t width;
    long long *causes; /* owned, or NULL: the number of exits for each cause, from cause 1 on */
    Py_ssize_t ncauses;
    long long calls;
    long long misses;
    int is_bare;  /* whether some exits answer with their only value (answers.h) */
    int scoped;   /* whether the program looks in the globals or builtins */
    int has_code; /* whether the program compares code objects */
    int enabled;
    int nogil;                     /* whether the kernel runs without the GIL */
    char clock;                    /* the timing counts the calls of this launcher */
    int doubts;                    /* guard failures while the entry's guards held */
    Gate gate;                     /* used by a re-entry */
    struct KernelProfile *profile; /* owned, or NULL: kernel_profile.h */
} Launcher;

/* launch.c: set when the first launcher with a guard program is made. */
extern const GuardsAPI *guards_api;

/* launch.c: advanced by each kernel run while there are watchers. */
extern KernelClock kernel_clock;

/* launch.c: runs the kernel on a region's live-ins. A new reference: the answer, or NULL with an exception set. */
PyObject *launcher_call(PyObject *object, PyObject *const *values, Py_ssize_t nvalues);

/* launch.c: LaunchAPI.launch. */
Launched launcher_launch(PyObject *object, PyObject *const *inputs, Py_ssize_t ninputs, PyObject *globals, PyObject *builtins,
                         Left *left, PyObject **result);

/* hand_over.c: the pending answers for frames that have just started, of all threads, innermost first. */
extern HandOver *hand_overs;

/* hand_over.c: whether there is such an answer for the frame that calls the launcher; then *answer is a new
 * reference, or NULL with an exception set. */
int hand_over_take(Launcher *launcher, PyObject **answer);

/* hand_over.c: adds the C API to the module; 0, or -1 with an exception set. */
int launch_api_register(PyObject *module, PyTypeObject *launcher_type);

/* launcher.c: makes the kernel: 1, or 0 if there is none for it, or -1 with an exception set. */
int kernel_prepare(Launcher *self);

#endif
