/* References that a kernel takes: the object lives until the call ends. Part of table.c. */
#ifndef PIJIT_RETAIN_H
#define PIJIT_RETAIN_H

#include "runtime/runtime.h"

int64_t
runtime_retain(int64_t frame, int64_t object)
{
    Py_INCREF((PyObject *)object);
    return owned_push(frame_owned(frame), (PyObject *)object) < 0 ? LAUNCHER_ERROR : OK;
}

#endif
