/* What most functions of the runtime table need: element sizes, and the references that a call owns. */
#ifndef PIJIT_RUNTIME_RUNTIME_INL_H
#define PIJIT_RUNTIME_RUNTIME_INL_H

#include "launcher/abi.h"
#include <string.h>

enum { OK = 0 };

/* Size of an element in bytes. */
static inline int
value_size(int typenum)
{
    return scalar_size(typenum) << scalar_is_complex(typenum);
}

static inline OwnedList *
frame_owned(int64_t frame)
{
    return (OwnedList *)((int64_t *)frame)[1];
}

#endif
