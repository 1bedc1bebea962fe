/* Profiles: the calls of jitted functions and gradient functions, and their time, while profiling is on.
 *
 * The own time of a call is without its kernels and without the calls of other such functions inside it
 * (launcher/timing/kernel_profile.h). */
#ifndef PIJIT_FUNCTION_TIERING_CALL_PROFILE_H
#define PIJIT_FUNCTION_TIERING_CALL_PROFILE_H

#include "launcher/launch_api.h"

/* Whether profiling is on. */
extern int calls_profiled;

/* What is counted for a function. */
typedef struct {
    int64_t period; /* the period of profiling that the counts are of; 0: none */
    long long calls;
    int64_t ns; /* the own time of the calls */
} CallProfile;

/* A call that is counted. */
typedef struct {
    PyObject *function; /* owned; NULL: the call is not counted */
    CallProfile *profile;
    int64_t period;
    Span span;
} ProfiledCall;

/* Around a call of `function`, which contains `profile`, while profiling is on. An exception that is set stays set. */
void profiled_call_begin(ProfiledCall *call, PyObject *function, CallProfile *profile);
void profiled_call_end(ProfiledCall *call);

/* Functions of the module; its stub has their meaning. */
PyObject *call_profiling_set(PyObject *module, PyObject *on);
PyObject *call_times(PyObject *module, PyObject *unused);

#endif
