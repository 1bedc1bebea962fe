/* Exceptions of callbacks that return a number: their thread raises them when bytecode runs next.
 *
 * The main thread makes a pending call. Other threads get an asynchronous exception, which is a class: CPython makes the
 * object of it. So the class is made for one exception, and its __new__ returns that. */
#include "launcher/callbacks/postponed_errors.h"
#include "cpython/eval_breaker/eval_breaker.h"

/* The pending call of the main thread: raise the exception of a call. Drops the reference to the callback. */
static int
error_raise(void *callback)
{
    CCallback *self = callback;    /* owned */
    PyObject *value = self->error; /* owned, given away */
    PyObject *type = (PyObject *)Py_TYPE(value);
    self->error = NULL;
    Py_INCREF(type);
    PyErr_Restore(type, value, PyException_GetTraceback(value));
    Py_DECREF(self);
    return -1;
}

/* Let the main thread raise an exception: 1, and the reference is taken over; or 0. */
static int
main_thread_raises(CCallback *self, PyObject *value)
{
    if (self->error != NULL) {
        return 0;
    }
    Py_INCREF(self);
    self->error = value;
    if (Py_AddPendingCall(error_raise, self) < 0) {
        self->error = NULL;
        Py_DECREF(self);
        return 0;
    }
    return 1;
}

static PyObject *
value_given(PyObject *value, PyObject *Py_UNUSED(args))
{
    Py_INCREF(value);
    return value;
}

static PyMethodDef new_method = {"__new__", value_given, METH_VARARGS, NULL};

/* A class whose call returns an exception: a NEW reference, or NULL with an exception set. */
static PyObject *
class_giving(PyObject *value)
{
    /* borrowed; up to CPython 3.10, handlers compare the class that was raised */
    PyObject *base = PY_VERSION_HEX < 0x030B0000 ? (PyObject *)Py_TYPE(value) : PyExc_BaseException;
    PyObject *new = PyCFunction_New(&new_method, value); /* owned, given away */
    return new != NULL
               ? PyObject_CallFunction((PyObject *)&PyType_Type, "s(O){sN}", Py_TYPE(value)->tp_name, base, "__new__", new)
               : NULL;
}

/* Let this thread raise an exception: 1, and the reference is taken over; or 0. */
static int
thread_raises(PyObject *value)
{
    if (PyThreadState_Get()->gilstate_counter < 2) {
        return 0; /* the thread state was made for this call */
    }
    PyObject *class = class_giving(value); /* owned */
    if (class == NULL) {
        PyErr_Clear();
        return 0;
    }
    int found = PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), class);
    Py_DECREF(class);
    if (found == 1) {
        Py_DECREF(value); /* the class has one */
    }
    return found == 1;
}

void
error_postpone(CCallback *self)
{
    PyObject *type, *value, *traceback; /* owned */
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    if (thread_runs_handlers() ? main_thread_raises(self, value) : thread_raises(value)) {
        Py_XDECREF(type);
        Py_XDECREF(traceback);
        return;
    }
    PyErr_Restore(type, value, traceback);
    PyErr_WriteUnraisable(self->function);
}

int
error_waits(const CCallback *self)
{
    return PyThreadState_Get()->async_exc != NULL || (self->error != NULL && thread_runs_handlers());
}
