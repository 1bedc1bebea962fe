/* CodeExtra: the data that pijit attaches to a code object, in its slot of the code extras. */
#include "function/marks/code_extra.h"
#include "function/dispatch.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/marks_inl.h"

void
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

CodeExtra *
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
