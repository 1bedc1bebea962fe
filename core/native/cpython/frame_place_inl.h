/* The code and the instruction of a frame, and the frame that called it. One implementation per CPython family. */
#ifndef PIJIT_CPYTHON_FRAME_PLACE_INL_H
#define PIJIT_CPYTHON_FRAME_PLACE_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x030B0000
#include "cpython/frame_place_37_310_inl.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "cpython/frame_place_311_313_inl.h"
#else
#error "the place of frames: not verified for this version of CPython"
#endif

#endif
