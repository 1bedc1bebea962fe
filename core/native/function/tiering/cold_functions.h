/* Cold functions: the time of their calls is added up, and `ask` decides when they are worth compiling. */
#ifndef PIJIT_FUNCTION_TIERING_COLD_FUNCTIONS_H
#define PIJIT_FUNCTION_TIERING_COLD_FUNCTIONS_H

#include "function/dispatch.h"

typedef struct {
    PyObject *ask;       /* owned; NULL: the function is not cold */
    int64_t spent, next; /* ns so far; ns at which to ask */
    int64_t start;       /* when the outermost current call began; 0: none, or it is not timed */
    Py_ssize_t depth;    /* the number of current calls */
    unsigned long calls, nested;
    char looping; /* the cache has code that asks at loop headers */
} Heat;

/* A call of a cold function; heat_end releases its references. */
typedef struct {
    PyObject *function; /* owned: the JitFunction, which has the Heat */
    PyObject *code;     /* owned */
    int64_t weight;     /* the number of calls that its time stands for; 0: not timed */
} ColdCall;

void heat_begin(ColdCall *call, PyObject *function, Heat *heat, PyObject *py_func);

/* After that call, with or without a result. */
void heat_end(ColdCall *call, Heat *heat);

/* Make a function cold, or with None no longer: 0, or -1 with an exception set if `ask` is not callable. */
int heat_set(Heat *heat, PyObject *ask, int looping);

#endif
