/* Recursion counters of threads, from CPython 3.11 on. */
#ifndef PIJIT_CPYTHON_RECURSION_311_INL_H
#define PIJIT_CPYTHON_RECURSION_311_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#if PY_VERSION_HEX >= 0x030c0000

/* The number of recursion levels that a thread has left: the smaller of CPython's counts for Python code and for C
 * code. */
static inline int
thread_levels_left(PyThreadState *tstate)
{
    int c = tstate->c_recursion_remaining, python = tstate->py_recursion_remaining;
    return python < c ? python : c;
}

/* Give back, around a call of a Python function from C, the levels of C recursion that the evaluator counts on entry.
 * A call between Python functions costs none of them, so a call of a JitFunction must not either. */
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

/* 3.11 has one counter for calls of C and of Python functions. */
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
