/* Output codes of a launcher are run here: from frame words, or the values of a Python kernel, to objects. */
#ifndef PIJIT_LAUNCHER_OUTPUTS_H
#define PIJIT_LAUNCHER_OUTPUTS_H

#include "launcher/codes/codes.h"

/* The sources of the values of one exit. */
typedef struct {
    PyObject *const *fetched; /* borrowed */
    int64_t *frame;
    PyObject *answer;    /* borrowed: the tuple of a Python kernel, or NULL */
    Py_ssize_t next;     /* the next item of `answer` */
    PyObject *globals;   /* borrowed: the function's; NULL: those of the calling frame */
    PyObject *instances; /* owned: the list of the instances made for this exit; NULL: none so far */
} ValueSource;

/* The object of an output: a NEW reference, or NULL with an exception set. */
PyObject *output_build(const Output *output, ValueSource *source);

#endif
