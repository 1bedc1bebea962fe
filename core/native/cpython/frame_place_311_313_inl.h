/* The place of a frame in CPython 3.11 to 3.13. Part of frame_place_inl.h. */
#ifndef PIJIT_CPYTHON_FRAME_PLACE_311_313_INL_H
#define PIJIT_CPYTHON_FRAME_PLACE_311_313_INL_H

#include <Python.h>

/* The code of a frame, borrowed. */
static inline PyCodeObject *
frame_code(PyFrameObject *frame)
{
    PyCodeObject *code = PyFrame_GetCode(frame); /* owned: the frame has it as well */
    Py_DECREF(code);
    return code;
}

/* The offset of the instruction that a frame runs, for PyCode_Addr2Line. */
static inline int
frame_offset(PyFrameObject *frame)
{
    return PyFrame_GetLasti(frame);
}

/* The calling frame: NEW reference, or NULL without an exception. */
static inline PyFrameObject *
frame_back(PyFrameObject *frame)
{
    return PyFrame_GetBack(frame);
}

#endif
