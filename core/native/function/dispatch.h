/* Dispatch of JitFunction calls, on all versions: the interface between the C files of pijit.core._hook.
 *
 * hooked.h runs linked code up to CPython 3.10, hidden.h from 3.11 on. */
#ifndef PIJIT_CORE_DISPATCH_H
#define PIJIT_CORE_DISPATCH_H

#include "cpython/family.h"
#include "evaluate.h"
#include "launcher/launch_api.h"

/* The arguments of a call, all borrowed from the caller. */
typedef struct {
    PyObject *const *positional;
    Py_ssize_t npositional;
    PyObject *const *names;  /* the names of the keyword arguments */
    PyObject *const *values; /* and their values */
    Py_ssize_t nkeywords;
} Arguments;

/* The largest number of inputs of a kernel that runs without a frame. Python has it as pijit.core._hook.MOST_INPUTS. */
#define MOST_INPUTS 32

/* After PATIENCE calls in a row that found nothing worth a kernel, only every PATIENCE-th call asks the cache. */
#define PATIENCE 64

/* While no entry serves and none is made, that interval doubles, at most MOST_DOUBLINGS times. */
#define MOST_DOUBLINGS 4

/* The rate at which calls of a function ask the cache. */
typedef struct {
    int in_vain;   /* the number of calls in a row that found nothing compiled */
    int rest;      /* the number of next calls that need not ask */
    int doublings; /* the number of times that the interval has doubled */
} Pace;

/* pace.c: whether all entries of a cache say that nothing is worth a kernel. */
int cache_in_vain(const GuardsAPI *guards, PyObject *cache);

/* The outcome of asking the cache for a call. */
typedef enum {
    ASKED_WELL,       /* compiled code serves the call */
    ASKED_IN_VAIN,    /* the entry that serves says that nothing is worth a kernel */
    ASKED_FOR_NOTHING /* no entry serves, and none was made */
} Asked;

/* dispatch.c of hook or hidden: whether the guards of an entry of the cache hold for the arguments of a call. */
int dispatch_accepted(const GuardsAPI *guards, PyObject *cache, PyFunctionObject *function, const Arguments *arguments);

/* entrance.c: set by launch_ready, which imports pijit.core._launcher: 0, or -1 with an exception set. */
extern const LaunchAPI *launch_api;
int launch_ready(void);

/* entrance.c: the code object in a payload of an entry cache, borrowed; other payloads are returned as they are. */
PyObject *payload_code(PyObject *payload);

/* entrance.c: the payload of an entry cache for linked code. */
extern PyTypeObject Entrance_Type;

/* A call whose arguments are bound. */
typedef struct {
    PyFunctionObject *function; /* borrowed */
    PyCodeObject *code;         /* borrowed: the caller owns it, because the function may get other code */
    PyObject *builtins;         /* borrowed from what the function refers to */
    PyObject **slots;           /* the items are owned */
    Py_ssize_t nslots;
} BoundCall;

/* The cache and on_miss of a marked code object, all borrowed. */
typedef struct {
    const GuardsAPI *guards;
    PyObject *cache; /* NULL: none */
    PyObject *on_miss;
} Mark;

/* code_marks.c: the answer of on_miss for the slots of a frame (locals, cells, free variables): a NEW reference, or
 * NULL with the exception of on_miss set. *asked is the outcome. */
PyObject *marks_ask(PyObject *on_miss, PyCodeObject *code, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
                    PyObject *builtins, Asked *asked);

/* code_marks.c: a NEW reference to the code object to run for `payload`; NULL for the original. A payload that does
 * not fit `code` is reported and replaced by the original. */
PyCodeObject *marks_accept(PyCodeObject *code, PyObject *payload);

/* code_marks.c: whether linked code may run in place of a code object; a refusal is reported. */
int marks_fit(PyCodeObject *code, PyCodeObject *linked);

/* jit_function.c: the type of the objects that `jit` returns. function_type_ready must run first; -1: an exception is
 * set. */
extern PyTypeObject JitFunction_Type;
int function_type_ready(void);

/* copies.c: set_rebuild(callable) of the module; METH_O. */
PyObject *function_set_rebuild(PyObject *module, PyObject *callable);

/* code_marks.c: count a call as a cache hit or as a miss. */
void marks_count(int hit);

#endif
