/* LoopTiming: its windows, their length, and the result. loop_timing.h describes the states. */
#include "launcher/timing/loop_timing.h"
#include "cpython/caller.h"
#include <structmember.h>

#define WAIT_CALLS 1000
#define FIRST_WINDOW 16
#define LONGEST_WINDOW 4096
#define WINDOW_NS 50000   /* the intended length of a window */
#define MISS_NS 40        /* the cost of a MISS in linked code, in ns (measured: 25 to 60) */
#define MANY_RESTARTS 200 /* then the loop has too few iterations to be measured */

int64_t loop_windows;

static void
window_open(LoopTiming *self, const void *running, int plain)
{
    self->running = running;
    self->plain = plain;
    self->calls = self->window;
    self->misses = 0;
    self->start = now_ns();
}

static int64_t
per_call(const LoopTiming *self, const Sample *sample)
{
    return sample->count > 0 ? sample_median(sample) / self->window : -1;
}

static void
result_give(LoopTiming *self, LoopState state)
{
    self->state = state;
    self->plain = state == LOOP_LOST;
    self->running = NULL;
    PyObject *on_result = self->on_result; /* owned */
    self->on_result = NULL;
    if (on_result == NULL) {
        return;
    }
    Py_INCREF(self);
    PyObject *done = PyObject_CallFunction(on_result, "OLL", state == LOOP_LOST ? Py_True : Py_False,
                                           (long long)per_call(self, &self->windows.kernels),
                                           (long long)per_call(self, &self->windows.plain)); /* owned */
    if (done == NULL) {
        PyErr_WriteUnraisable(on_result);
    }
    Py_XDECREF(done);
    Py_DECREF(on_result);
    Py_DECREF(self);
}

/* Set the number of calls of a window from the duration of the first one, which is used only for this. */
static void
window_size(LoopTiming *self, int64_t ns)
{
    int64_t calls = WINDOW_NS * (int64_t)FIRST_WINDOW / (ns > 0 ? ns : 1);
    self->window = (int)(calls < 1 ? 1 : calls > LONGEST_WINDOW ? LONGEST_WINDOW : calls);
}

static void
window_close(LoopTiming *self, const void *running)
{
    int64_t ns = now_ns() - self->start - (int64_t)self->misses * MISS_NS;
    loop_windows++;
    if (self->window == 0) {
        window_size(self, ns);
    }
    else {
        comparison_add(&self->windows, self->plain, ns);
    }
    ComparisonResult result = comparison_judge(&self->windows, self->limit * self->window);
    if (result != COMPARISON_OPEN) {
        result_give(self, result == COMPARISON_LOST ? LOOP_LOST : LOOP_KEPT);
        return;
    }
    window_open(self, running, comparison_plain_next(&self->windows));
}

void
loop_timing_tick(LoopTiming *self)
{
    if (self->state == LOOP_WAITING) {
        if (++self->calls >= WAIT_CALLS) {
            self->state = LOOP_MEASURING;
            window_open(self, caller_running(PyThreadState_Get()), 0);
            self->calls = FIRST_WINDOW;
        }
        return;
    }
    if (self->state != LOOP_MEASURING) {
        return;
    }
    const void *running = caller_running(PyThreadState_Get());
    if (running != self->running) {
        int first = self->window == 0;
        if (++self->restarts > MANY_RESTARTS) {
            result_give(self, LOOP_KEPT);
            return;
        }
        window_open(self, running, 0);
        self->calls = first ? FIRST_WINDOW : self->window;
    }
    else if (--self->calls <= 0) {
        window_close(self, running);
    }
}

/* ---- the type ------------------------------------------------------------------------------------------ */

static PyObject *
loop_timing_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"on_result", "limit", NULL};
    PyObject *on_result; /* borrowed */
    long long limit;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OL:LoopTiming", names, &on_result, &limit)) {
        return NULL;
    }
    if (!PyCallable_Check(on_result)) {
        return PyErr_Format(PyExc_TypeError, "on_result must be callable, not %.200s", Py_TYPE(on_result)->tp_name);
    }
    LoopTiming *self = (LoopTiming *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        Py_INCREF(on_result);
        self->on_result = on_result;
        self->limit = limit;
        self->windows.random = 1;
    }
    return (PyObject *)self;
}

static int
loop_timing_traverse(LoopTiming *self, visitproc visit, void *arg)
{
    Py_VISIT(self->on_result);
    return 0;
}

static int
loop_timing_clear(LoopTiming *self)
{
    Py_CLEAR(self->on_result);
    return 0;
}

static void
loop_timing_dealloc(LoopTiming *self)
{
    PyObject_GC_UnTrack(self);
    loop_timing_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
loop_timing_get_state(LoopTiming *self, void *Py_UNUSED(closure))
{
    static const char *const names[] = {"waiting", "measuring", "kept", "lost"};
    return PyUnicode_FromString(names[self->state]);
}

static PyGetSetDef loop_timing_getset[] = {
    {"state", (getter)loop_timing_get_state, NULL, "\"waiting\", \"measuring\", \"kept\" or \"lost\".", NULL},
    {NULL},
};

PyTypeObject LoopTiming_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._launcher.LoopTiming",
    .tp_doc = "LoopTiming(on_result, limit)\n--\n\nMeasures the launchers of a loop against bytecode.",
    .tp_basicsize = sizeof(LoopTiming),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = loop_timing_new,
    .tp_dealloc = (destructor)loop_timing_dealloc,
    .tp_traverse = (traverseproc)loop_timing_traverse,
    .tp_clear = (inquiry)loop_timing_clear,
    .tp_getset = loop_timing_getset,
};
