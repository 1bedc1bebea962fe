/* Calls of C functions that survive abort(). */
#ifndef PIJIT_SIGNALS_ABORT_CAPTURE_H
#define PIJIT_SIGNALS_ABORT_CAPTURE_H

#include <Python.h>

/* call_until_abort(function, first, second, third): addresses. A new reference: None if the C function returned, else
 * the text that it wrote to stderr before abort(). NULL with an exception for other arguments. */
PyObject *call_until_abort(PyObject *module, PyObject *args);

#endif
