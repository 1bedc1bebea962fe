/* The thread state and the calling frame, as launchers see them. One implementation per CPython family. */
#ifndef PIJIT_CALLER_H
#define PIJIT_CALLER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include "cpython/eval_breaker/eval_breaker.h"

#if PY_VERSION_HEX < 0x030B0000
#include "cpython/caller_37_310_inl.h"
#elif PY_VERSION_HEX < 0x030E0000
#include "cpython/caller_311_313_inl.h"
#else
#error "the state of threads: nobody has looked at this version of CPython"
#endif

#endif
