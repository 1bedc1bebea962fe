/* Builtins by globals, for frame_*.c: how CPython up to 3.9 finds those of a frame. */
#ifndef PIJIT_CORE_BUILTINS_H
#define PIJIT_CORE_BUILTINS_H

#include "cpython/frame.h"

/* As PyFrame_New finds them: those of the calling frame for the same globals, else what globals name. */
static PyObject *
globals_builtins(PyThreadState *tstate, PyObject *globals)
{
    static PyObject *name = NULL;  /* owned, for ever */
    if (tstate->frame != NULL && tstate->frame->f_globals == globals) {
        return tstate->frame->f_builtins;
    }
    if (name == NULL && (name = PyUnicode_InternFromString("__builtins__")) == NULL) {
        PyErr_Clear();
        return NULL;
    }
    PyObject *builtins = PyDict_GetItem(globals, name);  /* borrowed */
    if (builtins != NULL && PyModule_Check(builtins)) {
        builtins = PyModule_GetDict(builtins);
    }
    return builtins != NULL && PyDict_Check(builtins) ? builtins : NULL;
}

#endif
