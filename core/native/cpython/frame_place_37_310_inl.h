/* The place of a frame in CPython 3.7 to 3.10. Part of frame_place_inl.h. */
#ifndef PIJIT_CPYTHON_FRAME_PLACE_37_310_INL_H
#define PIJIT_CPYTHON_FRAME_PLACE_37_310_INL_H

#include <Python.h>
#include <frameobject.h>

/* The code of a frame, borrowed. */
static inline PyCodeObject *
frame_code(PyFrameObject *frame)
{
    return frame->f_code;
}

/* The offset of the instruction that a frame runs, for PyCode_Addr2Line. */
static inline int
frame_offset(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030A0000
    return frame->f_lasti * (int)sizeof(_Py_CODEUNIT);
#else
    return frame->f_lasti;
#endif
}

/* The calling frame: NEW reference, or NULL without an exception. */
static inline PyFrameObject *
frame_back(PyFrameObject *frame)
{
    Py_XINCREF(frame->f_back);
    return frame->f_back;
}

#endif
