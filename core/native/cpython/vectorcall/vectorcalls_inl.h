/* Vectorcalls of a JitFunction up to CPython 3.10; 3.7 has none. For hook/calls.c, which has the other calls. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALLS_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALLS_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x03080000
#include "cpython/vectorcall/vectorcalls_38_310_inl.h"
#endif

#endif
