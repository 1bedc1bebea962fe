/* Module constants with which compiled kernels poll the eval breaker (eval_breaker.h).
 *
 * EVAL_BREAKER and SIGNALS are addresses of words that all threads share, up to CPython 3.12. From 3.13 on
 * THREAD_POLLS is (offset, bits, bits of signals). Word 1 of a frame is the address of the OwnedList of the call,
 * which has the address of the thread's word at that offset. A kernel leaves if one of the bits is set. Constants of
 * other versions are None. */
#include "launcher/polls.h"
#include "launcher/abi.h"
#include "module_inl.h"
#include <stddef.h>

static PyObject *
poll_none(void)
{
    Py_RETURN_NONE;
}

int
polls_register(PyObject *module)
{
#if BREAKER_PER_THREAD
    PyObject *shared[] = {poll_none(), poll_none()}, /* owned, given to the module; so is `own` */
        *own = Py_BuildValue("(nnn)", (Py_ssize_t)offsetof(OwnedList, breaker), (Py_ssize_t)BREAKER_POLLED,
                             (Py_ssize_t)BREAKER_SIGNALS);
#else
    /* owned, given to the module */
    PyObject *shared[] = {PyLong_FromVoidPtr(breaker_address()), PyLong_FromVoidPtr(breaker_signals_address())};
    PyObject *own = poll_none(); /* owned, given to the module */
#endif
    int failed = module_give(module, "EVAL_BREAKER", shared[0]);
    failed |= module_give(module, "SIGNALS", shared[1]);
    return failed | module_give(module, "THREAD_POLLS", own);
}
