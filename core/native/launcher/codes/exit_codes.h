/* Parser of a launcher's exits and their outputs; also visits and frees them. */
#ifndef PIJIT_LAUNCHER_CODES_EXIT_CODES_H
#define PIJIT_LAUNCHER_CODES_EXIT_CODES_H

#include "launcher/abi.h"
#include "launcher/codes/codes.h"

/* The ranges that output codes of a launcher are checked against. */
typedef struct {
    const Input *inputs;
    Py_ssize_t ninputs;
    Py_ssize_t words;
    Py_ssize_t width;
} CodeLimits;

int exits_parse(const CodeLimits *limits, PyObject *codes, PyObject *numbers, Exit **exits, Py_ssize_t *nexits);
int exits_visit(const Exit *exits, Py_ssize_t nexits, visitproc visit, void *arg);

/* Set the numbers `held`, None or a tuple of an int or None per exit; 0, or -1 with an exception set. */
int held_set(PyObject *held, Exit *exits, Py_ssize_t nexits);

/* Set the value of each exit that counts iterations, from None or a tuple of an index or None per exit; 0, or -1 with
 * an exception set. */
int iterations_set(PyObject *iterations, Exit *exits, Py_ssize_t nexits);

/* Mark the poll exits, the exits that return, and those that answer with their only value, each a tuple of exit ids or
 * None; 0, or -1 with an exception set. */
int exits_mark(PyObject *polls, PyObject *returns, PyObject *bare, Exit *exits, Py_ssize_t nexits);

/* A tuple of the number of times that each exit was taken: new reference. */
PyObject *exits_count(const Exit *exits, Py_ssize_t nexits);
void exits_free(Exit *exits, Py_ssize_t nexits);

#endif
