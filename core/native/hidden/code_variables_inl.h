/* Shapes: the variables of code objects; inlined functions. */
#ifndef PIJIT_HIDDEN_CODE_VARIABLES_INL_H
#define PIJIT_HIDDEN_CODE_VARIABLES_INL_H

#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "hidden/code_variables.h"
#include "hidden/hidden.h"

/* The shape of a code object in its extra; NULL with an exception set. */
static inline const Shape *
shape_in(CodeExtra *extra, PyCodeObject *code)
{
    return extra->family.varnames != NULL || shape_fill(&extra->family, code) == 0 ? &extra->family : NULL;
}

#endif
