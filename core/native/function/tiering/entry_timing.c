/* EntryTiming: A/B timing of an entry's payload against the original function (perf_statistics).
 *
 *   WARMING    the first calls run the payload
 *   MEASURING  calls run one or the other, in random order, and are timed. It ends when there are enough runs of both,
 *              or when it is clear that the payload wins. A payload that takes long is not measured: the function may
 *              take far longer. It is measured if kernels take a tiny part of its time: most of its time is bytecode
 *              that runs in any case.
 *   KEPT       the payload runs; on_result must take the EntryTiming out of the cache
 *   LOST       the original function runs. After LONGER_RUNS runs in a row that take far longer than those measured,
 *              the measurement starts again, at most NEW_STARTS times: for larger arrays the result may differ */
#include "function/tiering/entry_timing.h"
#include "function/dispatch.h"
#include "launcher/timing/ab_timing_inl.h"
#include "launcher/timing/clock_inl.h"
#include "launcher/launch_api.h"
#include <string.h>

#define WARM_RUNS 16
#define LONGER 4      /* a run of a lost timing is far longer if it takes more than 4 times the median */
#define LONGER_RUNS 3 /* runs in a row: an interrupt makes one run longer */
#define NEW_STARTS 3
#define SMALL_PART 100 /* a part below 1/100 is small; bytecode may take 1000 times as long as a kernel */

typedef enum { WARMING, MEASURING, KEPT, LOST } TimingState;

typedef struct {
    PyObject_HEAD
    PyObject *payload;   /* owned: the code that is measured */
    PyObject *on_result; /* owned */
    int64_t limit;       /* ns; a longer payload is not measured; 0: no limit */
    TimingState state;
    RunSide next;
    enum { PART_UNKNOWN, PART_ASKED, PART_SMALL, PART_LARGE } part; /* the share of kernels in a run */
    int64_t kernels_before; /* the kernels' clock when the run began that measures this share */
    int busy;               /* a warm-up or measured call is running; calls inside it are not counted */
    RunSide inside;         /* the side of calls inside it, so that recursive calls are measured as well */
    int warm;
    int longer; /* the number of far longer runs of a lost timing in a row */
    int new_starts;
    int64_t plain_median; /* of a lost timing, ns */
    int64_t windows;      /* LaunchAPI.loop_windows when the measured call began */
    Comparison runs;
} EntryTiming;

static void
measuring_start(EntryTiming *self)
{
    self->state = MEASURING;
    comparison_start(&self->runs);
    self->longer = 0;
    self->part = PART_UNKNOWN;
    self->next = RUN_KERNELS;
}

static void
result_give(EntryTiming *self, TimingState state)
{
    int64_t kernels = sample_median(&self->runs.kernels);
    int64_t plain = self->runs.plain.count > 0 ? sample_median(&self->runs.plain) : -1;
    self->state = state;
    self->next = state == LOST ? RUN_PLAIN : RUN_UNTIMED;
    self->plain_median = plain;
    paused_tell(self->on_result,
                Py_BuildValue("(OLL)", state == LOST ? Py_True : Py_False, (long long)kernels, (long long)plain),
                payload_code(self->payload));
}

/* Decide from the runs so far how a measurement goes on. */
static void
measuring_judge(EntryTiming *self)
{
    ComparisonResult result = comparison_judge(&self->runs, self->part == PART_SMALL ? 0 : self->limit);
    if (result == COMPARISON_WON && self->runs.plain.count == 0 && self->part == PART_UNKNOWN) {
        self->part = PART_ASKED;
        self->next = RUN_KERNELS;
        return;
    }
    if (result != COMPARISON_OPEN) {
        result_give(self, result == COMPARISON_LOST ? LOST : KEPT);
        return;
    }
    self->next = comparison_plain_next(&self->runs) ? RUN_PLAIN : RUN_KERNELS;
}

PyObject *
timing_subject(PyObject *payload)
{
    EntryTiming *self = (EntryTiming *)payload;
    return self->state == LOST ? Py_None : self->payload;
}

/* The side that a call runs. */
static RunSide
next_side(const EntryTiming *self)
{
    return self->busy && self->state != LOST ? self->inside : self->next;
}

void
timing_start(TimedRun *run, PyObject *payload)
{
    EntryTiming *self = (EntryTiming *)payload;
    run->side = next_side(self);
    if (self->busy) {
        return;
    }
    if (self->state == WARMING && ++self->warm >= WARM_RUNS) {
        measuring_start(self);
    }
    if (run->side != RUN_UNTIMED || self->state != KEPT) {
        self->busy = 1;
        self->inside = run->side == RUN_PLAIN ? RUN_PLAIN : RUN_UNTIMED;
        Py_INCREF(payload);
        run->timing = payload;
        self->windows = *launch_api->loop_windows;
        launch_api->kernel_clock->watchers += self->part == PART_ASKED;
        self->kernels_before = launch_api->kernel_clock->ns;
        run->start = now_ns();
    }
}

/* Evaluate a run in which kernels were timed. */
static void
part_note(EntryTiming *self, int64_t ns)
{
    KernelClock *clock = launch_api->kernel_clock;
    clock->watchers--;
    self->part = (clock->ns - self->kernels_before) * SMALL_PART < ns ? PART_SMALL : PART_LARGE;
}

void
timing_finish(TimedRun *run, int succeeded)
{
    int64_t ns = now_ns() - run->start;
    EntryTiming *self = (EntryTiming *)run->timing; /* owned; also at the end of a warm-up call */
    run->timing = NULL;
    self->busy = 0;
    if (self->part == PART_ASKED) {
        part_note(self, ns);
    }
    if (succeeded && self->state == LOST) {
        self->longer = ns > LONGER * self->plain_median ? self->longer + 1 : 0;
        if (self->longer == LONGER_RUNS && self->new_starts < NEW_STARTS) {
            self->new_starts++;
            measuring_start(self);
        }
    }
    else if (succeeded && self->state == MEASURING && run->side != RUN_UNTIMED && self->windows == *launch_api->loop_windows) {
        comparison_add(&self->runs, run->side == RUN_PLAIN, ns);
        measuring_judge(self);
    }
    Py_DECREF(self);
}

/* ---- the type ------------------------------------------------------------------------------------------ */

static PyObject *
timing_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"payload", "on_result", "limit", NULL};
    PyObject *payload, *on_result; /* borrowed */
    long long limit;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOL:EntryTiming", names, &payload, &on_result, &limit)) {
        return NULL;
    }
    if (!PyCode_Check(payload_code(payload))) {
        return PyErr_Format(PyExc_TypeError, "payload must be a code object or an Entrance, not %.200s",
                            Py_TYPE(payload)->tp_name);
    }
    if (!PyCallable_Check(on_result)) {
        return PyErr_Format(PyExc_TypeError, "on_result must be callable, not %.200s", Py_TYPE(on_result)->tp_name);
    }
    if (launch_ready() < 0) {
        return NULL;
    }
    EntryTiming *self = (EntryTiming *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        Py_INCREF(payload);
        self->payload = payload;
        Py_INCREF(on_result);
        self->on_result = on_result;
        self->limit = limit;
        self->runs.random = 1;
    }
    return (PyObject *)self;
}

static int
timing_traverse(EntryTiming *self, visitproc visit, void *arg)
{
    Py_VISIT(self->payload);
    Py_VISIT(self->on_result);
    return 0;
}

static void
timing_dealloc(EntryTiming *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->payload);
    Py_XDECREF(self->on_result);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
timing_get_state(EntryTiming *self, void *Py_UNUSED(closure))
{
    static const char *const names[] = {"warming", "measuring", "kept", "lost"};
    return PyUnicode_FromString(names[self->state]);
}

static PyObject *
timing_get_payload(EntryTiming *self, void *Py_UNUSED(closure))
{
    Py_INCREF(self->payload);
    return self->payload;
}

static PyGetSetDef timing_getset[] = {
    {"state", (getter)timing_get_state, NULL, "\"warming\", \"measuring\", \"kept\" or \"lost\".", NULL},
    {"payload", (getter)timing_get_payload, NULL, "What is measured.", NULL},
    {NULL},
};

/* Like a tuple it has all its references from construction on, so it needs no tp_clear. */
PyTypeObject EntryTiming_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.EntryTiming",
    .tp_doc = "EntryTiming(payload, on_result, limit)\n--\n\nA payload that is measured against the function as it is.",
    .tp_basicsize = sizeof(EntryTiming),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = timing_new,
    .tp_dealloc = (destructor)timing_dealloc,
    .tp_traverse = (traverseproc)timing_traverse,
    .tp_getset = timing_getset,
};
