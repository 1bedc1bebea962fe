/* Builtins of a frame, looked up by its globals as CPython up to 3.9 does. Used by frame_*.c. */
#ifndef PIJIT_CPYTHON_BUILTINS_INL_H
#define PIJIT_CPYTHON_BUILTINS_INL_H

#include "cpython/frame_inl.h"

/* As in PyFrame_New: the builtins of the calling frame if it has the same globals, else those that the globals name. */
static PyObject *
globals_builtins(PyThreadState *tstate, PyObject *globals)
{
    static PyObject *name = NULL; /* owned; never released */
    if (tstate->frame != NULL && tstate->frame->f_globals == globals) {
        return tstate->frame->f_builtins;
    }
    if (name == NULL && (name = PyUnicode_InternFromString("__builtins__")) == NULL) {
        PyErr_Clear();
        return NULL;
    }
    PyObject *builtins = PyDict_GetItem(globals, name); /* borrowed */
    if (builtins != NULL && PyModule_Check(builtins)) {
        builtins = PyModule_GetDict(builtins);
    }
    return builtins != NULL && PyDict_Check(builtins) ? builtins : NULL;
}

#endif
