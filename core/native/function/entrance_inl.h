/* Check of an Entrance against a call, which each call goes through. */
#ifndef PIJIT_FUNCTION_ENTRANCE_INL_H
#define PIJIT_FUNCTION_ENTRANCE_INL_H

#include "function/entrance.h"

/* Whether a call runs the code object that the entry was made for. */
static inline int
entrance_fits(Entrance *self, const BoundCall *call)
{
    if (self->fits != call->code && marks_fit(call->code, (PyCodeObject *)self->code)) {
        self->fits = call->code;
    }
    return self->fits == call->code;
}

#endif
