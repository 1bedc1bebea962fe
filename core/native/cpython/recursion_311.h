/* What CPython 3.11 and later count of recursion. */
#ifndef PIJIT_CORE_RECURSION_311_H
#define PIJIT_CORE_RECURSION_311_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030c0000

/* How many levels of recursion a thread has left by CPython's count, of Python code or of C code. */
static inline int
thread_levels_left(PyThreadState *tstate)
{
    int c = tstate->c_recursion_remaining, python = tstate->py_recursion_remaining;
    return python < c ? python : c;
}

/* Around a call of a Python function from C: what the evaluator counts of C recursion when it is entered. A call between
 * Python functions costs none of it, so a call of a JitFunction must not either. */
static inline void
thread_refund_entry(PyThreadState *tstate)
{
    tstate->c_recursion_remaining += 2;
}

static inline void
thread_charge_entry(PyThreadState *tstate)
{
    tstate->c_recursion_remaining -= 2;
}

#else

/* 3.11 counts calls of C and of Python functions alike. */
static inline int
thread_levels_left(PyThreadState *tstate)
{
    return tstate->recursion_remaining;
}

static inline void
thread_refund_entry(PyThreadState *Py_UNUSED(tstate))
{
}

static inline void
thread_charge_entry(PyThreadState *Py_UNUSED(tstate))
{
}

#endif

#endif
