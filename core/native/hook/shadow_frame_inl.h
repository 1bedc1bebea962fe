/* Shadow frames: run another code object - the payload - on the locals of a frame that has not started; inlined functions. */
#ifndef PIJIT_HOOK_SHADOW_FRAME_INL_H
#define PIJIT_HOOK_SHADOW_FRAME_INL_H

#include "function/dispatch.h"

/* Move `count` references to slots that are NULL. */
static inline void
slots_move(PyObject **to, PyObject **from, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        to[i] = from[i];
        from[i] = NULL;
    }
}

#endif
