/* Exceptions that signal handlers raise while a kernel calls a library function. */
#ifndef PIJIT_RUNTIME_SIGNAL_HANDLERS_H
#define PIJIT_RUNTIME_SIGNAL_HANDLERS_H

#include "launcher/abi.h"

/* True if a signal handler raised an exception, judged by its traceback. */
int raised_by_handler(PyObject *traceback);

/* Makes bytecode raise the exception when it runs next. Steals the references. Returns 0, or -1 with the exception
 * set. */
int raise_later(PyObject *type, PyObject *value, PyObject *traceback);

#endif
