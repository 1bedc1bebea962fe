/* Parser of a launcher's inputs; also frees them. */
#ifndef PIJIT_LAUNCHER_CODES_INPUT_CODES_H
#define PIJIT_LAUNCHER_CODES_INPUT_CODES_H

#include "launcher/abi.h"
#include "launcher/codes/codes.h"

void inputs_free(Input *items, Py_ssize_t count);

/* Parse the input codes: the index of the word after the last input, or -1 with an exception set. */
Py_ssize_t inputs_parse(PyObject *codes, Input **inputs, Py_ssize_t *ninputs);

#endif
