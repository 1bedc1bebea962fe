/* The module pijit.core._signals: signals wait while the compiler works. abort_capture.c has its other function.
 *
 * A handler of the program may raise an exception between any two bytecodes of the main thread, also in those of the
 * compiler. Handlers in C that only take notes replace CPython's handlers meanwhile. Afterwards CPython's handlers
 * get the signals that came, so that the program's code receives the exceptions. core/asynchronous_exceptions.py calls this.
 * core/_signals.pyi has signatures and meanings. */
#define _POSIX_C_SOURCE 200809L

#include "module_inl.h"
#include "signals/abort_capture.h"

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

/* The numbers of a tuple are signal numbers: 0, or -1 with an exception set. */
static int
numbers_check(PyObject *numbers)
{
    for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(numbers); at++) {
        long number = PyLong_AsLong(PyTuple_GET_ITEM(numbers, at));
        if (number == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (number < 1 || number >= NSIG) {
            PyErr_Format(PyExc_ValueError, "%ld is not a signal number", number);
            return -1;
        }
    }
    return 0;
}

/* Give the signals that came to their handlers, once the last deferral ends. */
static void
deliver(void)
{
    if (deferral.depth == 0 || --deferral.depth > 0) {
        return;
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
}

/* A context manager in C: no bytecode runs between the start of a deferral and the block that ends it. An exception
 * that arrives where no block covers the call of __exit__ frees the object, which ends the deferral, too. */
typedef struct {
    PyObject_HEAD
    PyObject *numbers; /* owned; a tuple of signal numbers, or None: it defers nothing */
    int is_entered;
} Deferral;

static PyObject *
deferral_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"numbers", NULL};
    PyObject *numbers; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:Deferral", names, &numbers)) {
        return NULL;
    }
    if (numbers != Py_None && !PyTuple_Check(numbers)) {
        PyErr_Format(PyExc_TypeError, "a tuple of signal numbers or None is needed, not %.200s", Py_TYPE(numbers)->tp_name);
        return NULL;
    }
    if (numbers != Py_None && numbers_check(numbers) < 0) {
        return NULL;
    }
    Deferral *self = (Deferral *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        Py_INCREF(numbers);
        self->numbers = numbers;
    }
    return (PyObject *)self;
}

static void
deferral_end(Deferral *self)
{
    if (self->is_entered) {
        self->is_entered = 0;
        deliver();
    }
}

static void
deferral_dealloc(Deferral *self)
{
    deferral_end(self);
    Py_DECREF(self->numbers);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
deferral_enter(Deferral *self, PyObject *Py_UNUSED(args))
{
    if (self->is_entered) {
        PyErr_SetString(PyExc_RuntimeError, "the deferral has begun already");
        return NULL;
    }
    if (self->numbers != Py_None) {
        self->is_entered = 1;
        for (Py_ssize_t at = 0; deferral.depth == 0 && at < PyTuple_GET_SIZE(self->numbers); at++) {
            replace((int)PyLong_AsLong(PyTuple_GET_ITEM(self->numbers, at)));
        }
        deferral.depth++;
    }
    Py_RETURN_NONE;
}

static PyObject *
deferral_exit(Deferral *self, PyObject *Py_UNUSED(args))
{
    deferral_end(self);
    Py_RETURN_NONE;
}

static PyMethodDef deferral_methods[] = {
    {"__enter__", (PyCFunction)deferral_enter, METH_NOARGS, "Take note of the signals; their handlers wait."},
    {"__exit__", (PyCFunction)deferral_exit, METH_VARARGS, "End the deferral. The last one gives signals to handlers."},
    {NULL},
};

static PyTypeObject Deferral_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._signals.Deferral",
    .tp_basicsize = sizeof(Deferral),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Deferral(numbers)\n--\n\nA context manager: handlers of these signals wait. Nests.",
    .tp_new = deferral_new,
    .tp_dealloc = (destructor)deferral_dealloc,
    .tp_methods = deferral_methods,
};

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
    {"call_until_abort", call_until_abort, METH_VARARGS,
     "call_until_abort(function, first, second, third)\n--\n\nCall a C function: None, or what it wrote before abort()."},
    {"forget", signals_forget, METH_NOARGS, "forget()\n--\n\nEnd all deferrals without signals, in a forked child."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "pijit.core._signals", .m_doc = "Signals wait while the compiler works.", .m_size = -1,
    .m_methods = methods,
};

MODULE_INIT
PyInit__signals(void)
{
    PyObject *module = PyModule_Create(&definition); /* owned, given away */
    if (module != NULL && module_add_type(module, "Deferral", &Deferral_Type) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
