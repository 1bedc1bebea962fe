/* CCallback: a jitted function that C libraries call by a function pointer and a data pointer.
 *
 * c_callback.c makes the object, c_callback_run.c runs a call, c_signatures.c has the function pointers. */
#ifndef PIJIT_LAUNCHER_CALLBACKS_C_CALLBACK_H
#define PIJIT_LAUNCHER_CALLBACKS_C_CALLBACK_H

#include "launcher/launcher.h"
#include "numpy_api.h"

#define CALLBACK_ARRAYS 2
#define CALLBACK_INPUTS 64
#define CALLBACK_ROOTS 128

typedef struct CSignature CSignature;

typedef struct {
    PyObject_HEAD
    const CSignature *signature;
    PyObject *function;           /* owned: runs the calls that the kernel does not compute */
    PyCodeObject *code;           /* owned: the code that the kernel was made from */
    Launcher *launcher;           /* owned */
    PyObject *program;            /* owned: the guards over the roots; they fetch the inputs of the kernel */
    PyObject *short_program;      /* owned, or NULL: the guards that do not follow from the types of numbers; they fetch the
                                inputs that are no arguments */
    PyObject *globals, *builtins; /* owned: dicts */
    PyObject **roots;             /* owned; items owned, or NULL: the variables that a frame of the function starts with */
    Py_ssize_t nroots;
    Py_ssize_t first, count; /* the roots that are the arguments of a call */
    Py_ssize_t *places;      /* owned: for each input of the kernel the number of the argument that it is, or -1 */
    PyObject *kept_arrays[CALLBACK_ARRAYS]; /* owned, or NULL: arrays of earlier calls that nobody else refers to */
    PyObject *error;                        /* owned, or NULL: the exception that the main thread is going to raise */
    int left, rest;                         /* calls in a row that the kernel left; next calls that do not try it */
    long long calls, kernel_calls;
} CCallback;

extern PyTypeObject CCallback_Type;

/* Adds the type to the module: 0, or -1 with an exception set. */
int callbacks_register(PyObject *module, PyTypeObject *launcher_type);

/* c_callback_run.c: whether this thread runs all code as it is; NULL until LaunchAPI.set_off. */
extern int (*thread_off)(void);

/* The number that a call with these numbers returns: 0, or -1 with an exception set. */
int callback_number(CCallback *self, const double *numbers, Py_ssize_t count, double *number);

/* The result of a call that the kernel computes: 1, and a NEW reference; 0: it does not, but it may have written arrays
 * among the arguments; -1: an exception is set. */
int callback_kernel(CCallback *self, PyObject *const *arguments, PyObject **result);

/* The result of a call of the function itself: a NEW reference, or NULL with an exception set. */
PyObject *callback_function(CCallback *self, PyObject *const *arguments, Py_ssize_t count);

#endif
