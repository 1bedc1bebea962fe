/* CodeExtra: the data that pijit attaches to a code object, in its slot of the code extras. */
#ifndef PIJIT_FUNCTION_MARKS_CODE_EXTRA_H
#define PIJIT_FUNCTION_MARKS_CODE_EXTRA_H

#include "function/dispatch.h"

#if PY_VERSION_HEX >= 0x030b0000
#include "hidden/family_extra.h"
#else
#include "hook/family_extra.h"
#endif

typedef struct {
    unsigned long long serial;         /* identifies the code object; unlike its address it is never reused */
    PyObject *cache;                   /* owned; NULL: none */
    PyObject *on_miss;                 /* owned; NULL: not marked */
    unsigned long long partner_serial; /* as a payload: the code that it was last compared with; 0: none */
    int partner_fits;                  /* the result of that comparison */
    FamilyExtra family;                /* further data of the CPython family */
} CodeExtra;

void code_extra_free(void *memory);

/* The extra of a code object, made if it has none; NULL with an exception set. */
CodeExtra *code_extra_ensure(PyCodeObject *code);

#endif
