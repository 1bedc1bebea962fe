/* The Launcher object, and what the files that make it (launcher.c) and call it (launch.c) need of each other. */
#ifndef PIJIT_LAUNCHER_OBJECT_H
#define PIJIT_LAUNCHER_OBJECT_H

#include "codes.h"
#include "evaluate.h"

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
    KernelFunction kernel;
    Input *inputs;              /* owned */
    Py_ssize_t ninputs;
    Exit *exits;                /* owned; NULL in a cleared launcher */
    Py_ssize_t nexits;
    Py_ssize_t words;
    Py_ssize_t output_word;
    Py_ssize_t width;
    long long calls;
    long long misses;
    int enabled;
} Launcher;

/* launch.c: set when the first launcher with a guard program is made. */
extern const GuardsAPI *guards_api;

/* launch.c: checks what calls rely on; 0, or -1 with an exception set. */
int launch_ready(void);

/* launch.c: runs the kernel on a region's live-ins. A new reference: the answer, or NULL with an exception set. */
PyObject *launcher_call(PyObject *object, PyObject *const *values, Py_ssize_t nvalues);

/* launcher.c: makes the kernel: 1, or 0 if there is none for it, or -1 with an exception set. */
int kernel_prepare(Launcher *self);

#endif
