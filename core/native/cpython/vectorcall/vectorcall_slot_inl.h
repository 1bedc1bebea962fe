/* Types whose objects have a vectorcall, which CPython has from 3.8 on. Up to 3.7 only tp_call calls them.
 *
 * Both headers define macros. CPython 3.7 has neither the field nor the slots of a type, and no vectorcall is defined
 * there. Arguments of inline functions would name them. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX < 0x03080000
#include "cpython/vectorcall/vectorcall_slot_37_inl.h"
#else
#include "cpython/vectorcall/vectorcall_slot_38_inl.h"
#endif

#endif
