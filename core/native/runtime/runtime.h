/* What most functions of the runtime table need: element sizes, and the references that a call owns.
 *
 * Part of table.c, which defines the functions that entries.h declares. */
#ifndef PIJIT_RUNTIME_H
#define PIJIT_RUNTIME_H

#include "launcher/abi.h"
#include <string.h>

static const int64_t OK = 0;

/* Size of an element in bytes. */
static int
value_size(int typenum)
{
    return scalar_size(typenum) << scalar_is_complex(typenum);
}

static OwnedList *
frame_owned(int64_t frame)
{
    return (OwnedList *)((int64_t *)frame)[1];
}

#endif
