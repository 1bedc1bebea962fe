/* The part of a CodeExtra that is specific to the frame hook: the code filter's answer. */
#ifndef PIJIT_CORE_HOOK_EXTRA_H
#define PIJIT_CORE_HOOK_EXTRA_H

#include <Python.h>

typedef struct {
    PyObject *replacement;            /* owned; the code filter's answer; NULL: run the original */
    unsigned long long filter_serial; /* the filter that gave it; 0: none */
} FamilyExtra;

void family_extra_clear(FamilyExtra *extra);

#endif
