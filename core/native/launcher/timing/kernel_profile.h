/* Profiles: the runs of kernels and their time, counted for each launcher while profiling is on.
 *
 * A span is a call or a kernel run whose time is taken. Its own time leaves out the spans inside it. So the own times
 * of all spans add up to the time of the outermost ones. Each thread has its own spans. */
#ifndef PIJIT_LAUNCHER_TIMING_KERNEL_PROFILE_H
#define PIJIT_LAUNCHER_TIMING_KERNEL_PROFILE_H

#include "launcher/launcher.h"

/* Whether profiling is on: 0 or 1. While it is, it is one of the watchers of the kernel clock. */
extern int profiling;

/* What is counted for a launcher. */
typedef struct KernelProfile {
    int64_t period; /* the period of profiling that the counts are of */
    long long runs, timed;
    int64_t ns; /* of all runs; an estimate for runs that were not timed */
    int64_t bytes_in, bytes_out;
    long long short_runs; /* the number of timed runs that took less than SHORT_NS */
    int64_t short_ns;     /* the time of these runs */
    int64_t short_bytes;  /* the most bytes that one of these runs got */
    int skip;             /* the number of next runs that need not be timed */
    uint32_t random;
} KernelProfile;

/* A kernel run that is counted. */
typedef struct {
    KernelProfile *profile; /* borrowed from the launcher; NULL: the run is not counted */
    int64_t period;
    int64_t bytes_in;
    int timed;
    Span span;
} KernelRun;

/* Around a run of a machine code kernel with this frame, which has returned `id`, while profiling is on. An exception
 * that is set stays set. */
void frame_run_begin(KernelRun *run, Launcher *launcher, const int64_t *frame);
void frame_run_end(KernelRun *run, const Launcher *launcher, const int64_t *frame, int64_t id);

/* The same for a Python kernel: `answer` is its result, or NULL with an exception set. */
void python_run_begin(KernelRun *run, Launcher *launcher, PyObject *const *fetched);
void python_run_end(KernelRun *run, PyObject *answer);

/* LaunchAPI: the same functions. */
void span_begin(Span *span);
int64_t span_end(Span *span);

/* Functions of the module; its stub has their meaning. */
PyObject *profiling_set(PyObject *module, PyObject *on);
PyObject *kernel_times(PyObject *module, PyObject *unused);
PyObject *python_span_begin(PyObject *module, PyObject *unused);
PyObject *python_span_end(PyObject *module, PyObject *span);

#endif
