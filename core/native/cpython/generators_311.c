/* Suspended generators, built in the middle of their run, from CPython 3.11 on.
 *
 * This code does not depend on the frames of generators. A plan has the code of a generator function made for one
 * yield: the original with a prologue that takes all variables and operands as arguments, and yields once, at the
 * original's yield. There the generator is suspended as the original would be. Up to that yield it runs no code of
 * the program and handles no requests. */
#include "launcher/marshal/generators.h"
#include "hidden/make_function_inl.h"
#include "cpython/recursion_311_inl.h"

/* Items of a plan: the code, the argument index of each value, and whether the generator has begun. */
#define PLAN_CODE 0
#define PLAN_SLOTS 1
#define PLAN_BEGUN 2

/* Whether the plan's code fits `function` and takes `count` values. */
static int
generator_fits(PyObject *function, PyObject *plan, Py_ssize_t count)
{
    PyCodeObject *code = (PyCodeObject *)PyTuple_GET_ITEM(plan, PLAN_CODE); /* borrowed */
    PyObject *slots = PyTuple_GET_ITEM(plan, PLAN_SLOTS);                   /* borrowed */
    if (Py_TYPE(function) != &PyFunction_Type || PyTuple_GET_SIZE(slots) != count) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i));
        if (slot < 0 || slot >= code->co_argcount) {
            PyErr_Clear();
            return 0;
        }
    }
    PyObject *closure = PyFunction_GET_CLOSURE(function); /* borrowed */
    return (closure == NULL ? 0 : PyTuple_GET_SIZE(closure)) == PyCode_GetNumFree(code);
}

/* Call a generator function with values at the positions `slots`, and None for its other arguments. NEW reference, or
 * NULL with an exception set. */
static PyObject *
generator_call(PyFunctionObject *function, PyObject *slots, PyObject *const *values)
{
    Py_ssize_t count = ((PyCodeObject *)function->func_code)->co_argcount;
    PyObject **arguments = PyMem_New(PyObject *, count + 1); /* owned; the items are borrowed */
    if (arguments == NULL) {
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        arguments[i] = Py_None;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        arguments[PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i))] = values[i];
    }
    PyObject *generator = PyObject_Vectorcall((PyObject *)function, arguments, count, NULL); /* owned, given away */
    PyMem_Free(arguments);
    return generator;
}

/* Run a new generator to its yield: 0, or -1 with an exception set. Tracers and monitoring tools do not see it. */
static int
generator_begin(PyObject *generator)
{
    PyThreadState *tstate = PyThreadState_Get();
    PyObject *yielded; /* owned */
    PyThreadState_EnterTracing(tstate);
    thread_refund_entry(tstate);
    PySendResult status = PyIter_Send(generator, Py_None, &yielded);
    thread_charge_entry(tstate);
    PyThreadState_LeaveTracing(tstate);
    Py_XDECREF(yielded);
    if (status == PYGEN_RETURN) {
        PyErr_SetString(PyExc_SystemError, "a generator does not wait where it was expected to");
    }
    return status == PYGEN_NEXT ? 0 : -1;
}

PyObject *
generator_make(PyObject *plan, PyObject *values)
{
    PyFunctionObject *function = (PyFunctionObject *)PyTuple_GET_ITEM(values, 0); /* borrowed */
    if (!generator_fits((PyObject *)function, plan, PyTuple_GET_SIZE(values) - 1)) {
        PyErr_SetString(PyExc_SystemError, "a generator's function is not the one that it was compiled for");
        return NULL;
    }
    PyFunctionObject *hidden = hidden_make(function, (PyCodeObject *)PyTuple_GET_ITEM(plan, PLAN_CODE)); /* owned */
    if (hidden == NULL) {
        return NULL;
    }
    Py_SETREF(hidden->func_name, Py_NewRef(function->func_name));
    PyObject *generator = generator_call(hidden, PyTuple_GET_ITEM(plan, PLAN_SLOTS),
                                         &PyTuple_GET_ITEM(values, 1)); /* owned, given away */
    if (generator != NULL && PyTuple_GET_ITEM(plan, PLAN_BEGUN) == Py_True && generator_begin(generator) < 0) {
        Py_CLEAR(generator);
    }
    Py_DECREF(hidden);
    return generator;
}
