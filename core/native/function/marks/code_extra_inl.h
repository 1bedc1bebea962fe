/* CodeExtra: the data that pijit attaches to a code object, in its slot of the code extras; inlined functions. */
#ifndef PIJIT_FUNCTION_MARKS_CODE_EXTRA_INL_H
#define PIJIT_FUNCTION_MARKS_CODE_EXTRA_INL_H

#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/marks_inl.h"

/* The extra of a code object, or NULL without an exception. */
static inline CodeExtra *
code_extra_get(PyCodeObject *code)
{
    void *extra = NULL;
    if (code_extra_read(code, marks.extra_index, &extra) < 0) {
        PyErr_Clear();
        return NULL;
    }
    return (CodeExtra *)extra;
}

#endif
