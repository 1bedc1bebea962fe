/* A call that asks for its code: its arguments, and the outcome before it is known. */
#ifndef PIJIT_CORE_SERVED_INL_H
#define PIJIT_CORE_SERVED_INL_H

#include "hidden/hidden.h"

/* The arguments of a vectorcall. */
static inline Arguments
vector_arguments(PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Py_ssize_t nargs = PyVectorcall_NARGS(nargsf);
    Arguments arguments = {args, nargs, NULL, args + nargs, 0};
    if (kwnames != NULL) {
        arguments.names = &PyTuple_GET_ITEM(kwnames, 0);
        arguments.nkeywords = PyTuple_GET_SIZE(kwnames);
    }
    return arguments;
}

static inline void
served_begin(Served *served)
{
    served->record = NULL;
    served->result = NULL;
    served->run.timing = NULL;
    served->original = 0;
}

#endif
