/* Events of tracers that show the frame of a trampoline: see trampoline_events_311.h. */
#include "cpython/function_hooks/trampoline_events_311.h"
#include "function_code_inl.h"

/* What takes the place of a tracer until a trampoline has returned. It hides the events of the trampoline's frame. */
typedef struct {
    PyObject_HEAD
    Py_tracefunc function; /* the tracer's */
    PyObject *object;      /* owned: the tracer's; NULL: it has none */
    PyObject *target;      /* owned: the TrampolineTarget */
} Observer;

static void
observer_dealloc(PyObject *self)
{
    Observer *observer = (Observer *)self;
    Py_XDECREF(observer->object);
    Py_DECREF(observer->target);
    PyObject_Free(self);
}

static PyTypeObject Observer_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Observer",
    .tp_basicsize = sizeof(Observer),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_dealloc = observer_dealloc,
};

/* An event for a tracer of the thread, which is at `tracer` and `object`. */
static int
observe(Observer *self, PyFrameObject *frame, int what, PyObject *arg, Py_tracefunc *tracer, PyObject **object)
{
    PyCodeObject *code = PyFrame_GetCode(frame); /* owned */
    int is_hidden = (PyObject *)trampoline_target(code) == self->target;
    Py_DECREF(code);
    if (!is_hidden) {
        return self->function(self->object, frame, what, arg);
    }
    if (what == PyTrace_RETURN && *object == (PyObject *)self) {
        *tracer = self->function;
        *object = self->object;
        self->object = NULL;
        Py_DECREF(self);
    }
    return 0;
}

static int
observe_trace(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    PyThreadState *tstate = PyThreadState_Get();
    return observe((Observer *)self, frame, what, arg, &tstate->c_tracefunc, &tstate->c_traceobj);
}

static int
observe_profile(PyObject *self, PyFrameObject *frame, int what, PyObject *arg)
{
    PyThreadState *tstate = PyThreadState_Get();
    return observe((Observer *)self, frame, what, arg, &tstate->c_profilefunc, &tstate->c_profileobj);
}

/* Put an observer in the place of a tracer, if there is one: 0, or -1 with an exception set. */
static int
observer_install(PyObject *target, Py_tracefunc observer, Py_tracefunc *tracer, PyObject **object)
{
    if (*tracer == NULL) {
        return 0;
    }
    Observer *made = PyObject_New(Observer, &Observer_Type); /* owned, then the thread's */
    if (made == NULL) {
        return -1;
    }
    made->function = *tracer;
    made->object = *object;
    Py_INCREF(target);
    made->target = target;
    *tracer = observer;
    *object = (PyObject *)made;
    return 0;
}

int
trampoline_events_hide(PyThreadState *tstate, PyObject *target)
{
    if (PyType_Ready(&Observer_Type) < 0
        || observer_install(target, observe_trace, &tstate->c_tracefunc, &tstate->c_traceobj) < 0) {
        return -1;
    }
    return observer_install(target, observe_profile, &tstate->c_profilefunc, &tstate->c_profileobj);
}
