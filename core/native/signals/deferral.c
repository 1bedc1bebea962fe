/* The module pijit.core._signals: signals wait while the compiler works.
 *
 * A handler of the program may raise an exception between any two bytecodes of the main thread, also in those of the
 * compiler. Handlers in C that only take notes replace CPython's handlers meanwhile. Afterwards CPython's handlers
 * get the signals that came, so that the program's code receives the exceptions. core/asynchronous_exceptions.py calls this.
 * core/_signals.pyi has signatures and meanings. */
#define _POSIX_C_SOURCE 200809L

#include "capsule_inl.h"

#include <signal.h>

#ifndef NSIG
#define NSIG 65
#endif

/* The handlers that were replaced, and the signals that came. Written by the main thread, and `came` by handlers. */
static struct {
    struct sigaction before[NSIG];
    char replaced[NSIG];
    volatile sig_atomic_t came[NSIG];
    int depth;
} deferral;

static void
take_note(int number)
{
    deferral.came[number] = 1;
}

/* Replace the handler of a signal. Signals without a handler in C keep what the system does. */
static void
replace(int number)
{
    struct sigaction own, *before = &deferral.before[number];
    if (sigaction(number, NULL, before) < 0 || (before->sa_flags & SA_SIGINFO) || before->sa_handler == SIG_DFL
        || before->sa_handler == SIG_IGN) {
        return;
    }
    own = *before;
    own.sa_handler = take_note;
    deferral.came[number] = 0;
    deferral.replaced[number] = sigaction(number, &own, NULL) == 0;
}

/* Bring back the handler of a signal, unless the program has set another one meanwhile. */
static void
bring_back(int number)
{
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == take_note) {
        sigaction(number, &deferral.before[number], NULL);
    }
    deferral.replaced[number] = 0;
}

static PyObject *
signals_defer(PyObject *Py_UNUSED(module), PyObject *numbers)
{
    if (!PyTuple_Check(numbers)) {
        PyErr_Format(PyExc_TypeError, "a tuple of signal numbers is needed, not %.200s", Py_TYPE(numbers)->tp_name);
        return NULL;
    }
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(numbers); at++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, at));
        if (number == -1 && PyErr_Occurred()) {
            return NULL;
        }
        if (number < 1 || number >= NSIG) {
            PyErr_Format(PyExc_ValueError, "%ld is not a signal number", number);
            return NULL;
        }
    }
    if (deferral.depth++ == 0) {
        for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(numbers); at++) {
            replace((int)PyLong_AsLong(PyTuple_GET_ITEM(numbers, at)));
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
signals_deliver(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    if (deferral.depth == 0 || --deferral.depth > 0) {
        Py_RETURN_NONE;
    }
    for (int number = 1; number < NSIG; number++) {
        if (!deferral.replaced[number]) {
            continue;
        }
        bring_back(number);
        if (deferral.came[number]) {
            deferral.came[number] = 0;
            deferral.before[number].sa_handler(number);
        }
    }
    Py_RETURN_NONE;
}

static PyObject *
signals_forget(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    for (int number = 1; number < NSIG; number++) {
        if (deferral.replaced[number]) {
            bring_back(number);
        }
    }
    deferral.depth = 0;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"defer", signals_defer, METH_O, "defer(numbers)\n--\n\nTake note of these signals; their handlers wait. Nests."},
    {"deliver", signals_deliver, METH_NOARGS,
     "deliver()\n--\n\nUndo one defer(). The last one gives the signals that came to their handlers."},
    {"forget", signals_forget, METH_NOARGS, "forget()\n--\n\nUndo all defer() without signals, in a forked child."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "pijit.core._signals", .m_doc = "Signals wait while the compiler works.", .m_size = -1,
    .m_methods = methods,
};

MODULE_INIT
PyInit__signals(void)
{
    return PyModule_Create(&definition);
}
