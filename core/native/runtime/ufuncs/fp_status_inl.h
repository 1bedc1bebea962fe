/* Floating-point exception flags in the processor's registers, for the current thread.
 *
 * x86 has two sets of flags. Arithmetic on float and double raises those of MXCSR. Long doubles and feraiseexcept, by
 * which NumPy's loops report errors, may raise those of the x87 unit alone. Reading one register takes a third of the
 * time of fetestexcept. */
#ifndef PIJIT_RUNTIME_UFUNCS_FP_STATUS_INL_H
#define PIJIT_RUNTIME_UFUNCS_FP_STATUS_INL_H

#include <Python.h> /* before system headers: it chooses what they declare */
#include <fenv.h>
#include <stdint.h>

#define REPORTED_FLAGS (FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID)

#if defined(__x86_64__) && defined(__GNUC__)

/* Flags that machine code without calls has raised. */
static inline int
own_status(void)
{
    return (int)__builtin_ia32_stmxcsr() & REPORTED_FLAGS;
}

static inline void
own_status_lower(void)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() & ~(unsigned)REPORTED_FLAGS);
}

static inline void
own_status_raise(int flags)
{
    __builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | (unsigned)(flags & REPORTED_FLAGS));
}

/* Flags that any code has raised. */
static inline int
whole_status(void)
{
    unsigned short x87;
    __asm__ __volatile__("fnstsw %0" : "=a"(x87));
    return (x87 & REPORTED_FLAGS) | own_status();
}

#else

static inline int
own_status(void)
{
    return fetestexcept(REPORTED_FLAGS);
}

static inline void
own_status_lower(void)
{
    feclearexcept(REPORTED_FLAGS);
}

static inline void
own_status_raise(int flags)
{
    feraiseexcept(flags & REPORTED_FLAGS);
}

static inline int
whole_status(void)
{
    return fetestexcept(REPORTED_FLAGS);
}

#endif
#endif
