/* The part of a CodeExtra that is specific to hidden functions: the shape of the code. */
#ifndef PIJIT_CORE_HIDDEN_EXTRA_H
#define PIJIT_CORE_HIDDEN_EXTRA_H

#include "hidden/hidden.h"

typedef Shape FamilyExtra;

void family_extra_clear(FamilyExtra *extra);

#endif
