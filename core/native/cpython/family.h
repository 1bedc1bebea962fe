/* Tracing and recursion of a thread, by CPython family. Up to 3.10 the frame hook runs linked code (frame_inl.h);
 * from 3.11 on hidden functions do (thread_311_inl.h). */
#ifndef PIJIT_CORE_FAMILY_H
#define PIJIT_CORE_FAMILY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030b0000
#include "cpython/thread_311_inl.h"
#else
#include "cpython/frame_inl.h"
#endif

#endif
