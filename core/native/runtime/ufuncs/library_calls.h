/* Calls of library functions from kernels. */
#ifndef PIJIT_RUNTIME_UFUNCS_LIBRARY_CALLS_H
#define PIJIT_RUNTIME_UFUNCS_LIBRARY_CALLS_H

#include "launcher/abi.h"

typedef struct {
    int64_t kind;
    int64_t typenum; /* type number of an array; the fields below describe arrays, too */
    int64_t ndim;
    int64_t mask;  /* NumPy's array flags that are compared */
    int64_t flags; /* their required values */
} Wanted;

/* A pending call without effect. Adding it sets the eval breaker, so the interpreter of the main thread handles its
 * requests. */
int nothing(void *unused);

/* Reads a number into words. Returns 0, or BAILED_OUT if the object is of another kind. */
int64_t number_read(int64_t kind, PyObject *object, int64_t *words);
int64_t array_read(const Wanted *wanted, PyObject *object, int64_t *desc);

/* Steals the reference to `result`. */
int64_t result_read(int64_t frame, const Wanted *wanted, PyObject *result, int64_t *out);

/* Turns the exception that is set into a kernel's answer. An exception that the call itself did not cause, such as one
 * from a signal handler, is raised again as soon as bytecode runs. */
int64_t exception_answer(void);

#endif
