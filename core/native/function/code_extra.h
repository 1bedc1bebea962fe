/* CodeExtra: the data that pijit attaches to a code object, in its slot of the code extras. Part of code_marks.h. */
#ifndef PIJIT_CORE_CODE_EXTRA_H
#define PIJIT_CORE_CODE_EXTRA_H

#include "function/marks_inl.h"

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

static void
code_extra_free(void *memory)
{
    CodeExtra *extra = (CodeExtra *)memory;
    if (extra == NULL) {
        return;
    }
    /* While the interpreter shuts down, the referenced objects may be destroyed in part: do not touch them. */
    if (!interpreter_ends()) {
        Py_XDECREF(extra->cache);
        Py_XDECREF(extra->on_miss);
        family_extra_clear(&extra->family);
    }
    PyMem_RawFree(extra);
}

/* The extra of a code object, or NULL without an exception. */
static CodeExtra *
code_extra_get(PyCodeObject *code)
{
    void *extra = NULL;
    if (code_extra_read(code, marks.extra_index, &extra) < 0) {
        PyErr_Clear();
        return NULL;
    }
    return (CodeExtra *)extra;
}

/* The extra of a code object, made if it has none; NULL with an exception set. */
static CodeExtra *
code_extra_ensure(PyCodeObject *code)
{
    CodeExtra *extra = code_extra_get(code);
    if (extra != NULL) {
        return extra;
    }
    extra = (CodeExtra *)PyMem_RawCalloc(1, sizeof(CodeExtra));
    if (extra == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (code_extra_write(code, marks.extra_index, extra) < 0) {
        PyMem_RawFree(extra);
        return NULL;
    }
    extra->serial = ++marks.last_serial;
    return extra;
}

#endif
