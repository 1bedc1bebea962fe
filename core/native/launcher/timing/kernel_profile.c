/* Profiles: the runs of kernels and their time. kernel_profile.h has the terms.
 *
 * Launchers that run are kept in a list while profiling is on. So their counts can be read even if their entry is
 * dropped. Counts of an earlier period are dropped at the first run of a new one.
 *
 * Reading the clock twice takes some 50 ns. So after FIRST_TIMED runs of a short kernel one of SAMPLING is timed. The
 * others count with the mean of the short runs, unless they get more bytes than any of these. */
#include "launcher/timing/kernel_profile.h"
#include "launcher/timing/clock_inl.h"
#include "launcher/marshal/outputs.h"

#define SHORT_NS 3000 /* then reading the clock takes more than 2 % */
#define FIRST_TIMED 16
#define SAMPLING 16

int profiling;
static int64_t period;             /* the number of periods of profiling so far */
static PyObject *profiled;         /* owned: the list of launchers that ran in this period; NULL if profiling is off */
static __thread int64_t inside_ns; /* the time of the spans inside the innermost one that is open */

/* ---- spans ---- */

void
span_begin(Span *span)
{
    span->outside_ns = inside_ns;
    inside_ns = 0;
    span->start = now_ns();
}

/* End a span that took `ns` in all; the result is its own time. */
static inline int64_t
span_close(Span *span, int64_t ns)
{
    int64_t own = ns - inside_ns;
    inside_ns = span->outside_ns + ns;
    return own;
}

int64_t
span_end(Span *span)
{
    return span_close(span, now_ns() - span->start);
}

/* ---- bytes ---- */

static inline int64_t
array_bytes(PyObject *object)
{
    return object != NULL && PyArray_Check(object) ? (int64_t)PyArray_NBYTES((PyArrayObject *)object) : 0;
}

/* The bytes of an array, or of the arrays in a tuple. */
static int64_t
value_bytes(PyObject *object)
{
    if (object == NULL || !PyTuple_CheckExact(object)) {
        return array_bytes(object);
    }
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) {
        bytes += array_bytes(PyTuple_GET_ITEM(object, i));
    }
    return bytes;
}

static int64_t
inputs_bytes(const Launcher *self, const int64_t *frame)
{
    int64_t bytes = 0;
    const int64_t *words = frame + FIRST_INPUT_WORD;
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        const Input *input = &self->inputs[i];
        if (input->kind == IN_ARRAY || input->kind == IN_TYPED_ARRAY) {
            bytes += array_bytes((PyObject *)words[DESC_OBJECT]);
        }
        else if (input->kind == IN_OBJECT) {
            bytes += array_bytes((PyObject *)words[0]);
        }
        words += input->words;
    }
    return bytes;
}

/* The bytes of the arrays that the kernel has put into the frame for these outputs. */
static int64_t
outputs_bytes(const Output *items, Py_ssize_t count, const int64_t *frame)
{
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        bytes += items[i].kind == OUT_OBJECT ? value_bytes((PyObject *)frame[items[i].word])
                                             : outputs_bytes(items[i].items, items[i].count, frame);
    }
    return bytes;
}

/* ---- runs ---- */

/* The counts of a launcher in this period, or NULL if there is no memory for them. No exception is set. */
static KernelProfile *
profile_of(Launcher *launcher)
{
    KernelProfile *self = launcher->profile;
    if (self != NULL && self->period == period) {
        return self;
    }
    if (self == NULL) {
        self = launcher->profile = PyMem_Calloc(1, sizeof(KernelProfile));
    }
    if (self == NULL || profiled == NULL || PyList_Append(profiled, (PyObject *)launcher) < 0) {
        PyErr_Clear();
        return NULL;
    }
    memset(self, 0, sizeof(*self));
    self->period = period;
    self->random = 1;
    return self;
}

static void
kernel_run_begin(KernelRun *run, Launcher *launcher, int64_t bytes_in)
{
    KernelProfile *self = run->profile = profile_of(launcher);
    if (self == NULL) {
        return;
    }
    run->period = period;
    run->bytes_in = bytes_in;
    run->timed = self->skip == 0 || bytes_in > self->short_bytes;
    if (run->timed) {
        span_begin(&run->span);
        return;
    }
    self->skip--;
    run->span.outside_ns = inside_ns;
    inside_ns = 0;
}

/* Note a timed run, and decide how many of the next ones need not be timed. */
static void
timed_run_note(KernelProfile *self, int64_t ns, int64_t bytes_in)
{
    self->timed++;
    self->skip = 0;
    if (ns >= SHORT_NS) {
        return;
    }
    self->short_runs++;
    self->short_ns += ns;
    self->short_bytes = bytes_in > self->short_bytes ? bytes_in : self->short_bytes;
    if (self->short_runs >= FIRST_TIMED) {
        self->random = self->random * 1664525u + 1013904223u;
        self->skip = (int)((self->random >> 16) % (2 * SAMPLING - 1));
    }
}

/* `missed`: the kernel did nothing. */
static void
kernel_run_end(KernelRun *run, int64_t bytes_out, int missed)
{
    KernelProfile *self = run->profile;
    if (self == NULL) {
        return;
    }
    int known = self->period == run->period && self->short_runs > 0; /* whether the mean of short runs is */
    int64_t ns = run->timed ? span_end(&run->span)
                            : span_close(&run->span, inside_ns + (known ? self->short_ns / self->short_runs : 0));
    if (self->period != run->period) {
        return;
    }
    self->runs += !missed;
    self->ns += ns;
    self->bytes_in += missed ? 0 : run->bytes_in;
    self->bytes_out += bytes_out;
    if (run->timed) {
        timed_run_note(self, ns, run->bytes_in);
    }
}

void
frame_run_begin(KernelRun *run, Launcher *launcher, const int64_t *frame)
{
    kernel_run_begin(run, launcher, inputs_bytes(launcher, frame));
}

void
frame_run_end(KernelRun *run, const Launcher *launcher, const int64_t *frame, int64_t id)
{
    int64_t exit = id & (((int64_t)1 << CAUSE_SHIFT) - 1);
    int64_t bytes = id >= 0 && exit < launcher->nexits
                        ? outputs_bytes(launcher->exits[exit].items, launcher->exits[exit].count, frame)
                        : 0;
    kernel_run_end(run, bytes, id == LAUNCHER_MISS);
}

void
python_run_begin(KernelRun *run, Launcher *launcher, PyObject *const *fetched)
{
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; i < launcher->ninputs; i++) {
        bytes += array_bytes(fetched[i]);
    }
    kernel_run_begin(run, launcher, bytes);
}

void
python_run_end(KernelRun *run, PyObject *answer)
{
    int64_t bytes = 0;
    for (Py_ssize_t i = 0; answer != NULL && PyTuple_CheckExact(answer) && i < PyTuple_GET_SIZE(answer); i++) {
        bytes += value_bytes(PyTuple_GET_ITEM(answer, i));
    }
    kernel_run_end(run, bytes, answer == Py_None);
}

/* ---- the module's functions ---- */

PyObject *
profiling_set(PyObject *Py_UNUSED(module), PyObject *on)
{
    int wanted = PyObject_IsTrue(on);
    if (wanted < 0) {
        return NULL;
    }
    PyObject *launchers = wanted ? PyList_New(0) : NULL; /* owned; other threads may run while it is made */
    if (wanted && launchers == NULL) {
        return NULL;
    }
    if (wanted != profiling) {
        PyObject *old = profiled; /* owned */
        profiled = launchers;     /* moved */
        launchers = old;
        period += wanted;
        profiling = wanted;
        kernel_clock.watchers += wanted ? 1 : -1;
    }
    Py_XDECREF(launchers);
    Py_RETURN_NONE;
}

PyObject *
python_span_begin(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    Span span;
    span_begin(&span);
    return Py_BuildValue("(LL)", (long long)span.start, (long long)span.outside_ns);
}

PyObject *
python_span_end(PyObject *Py_UNUSED(module), PyObject *span)
{
    long long start, outside_ns;
    if (!PyArg_ParseTuple(span, "LL:end_span", &start, &outside_ns)) {
        return NULL;
    }
    Span ended = {start, outside_ns};
    return PyLong_FromLongLong(span_end(&ended));
}

PyObject *
kernel_times(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *result = PyList_New(0); /* new: the result */
    PyObject *launchers = profiled;   /* owned: a garbage collection may run code that ends profiling */
    Py_XINCREF(launchers);
    for (Py_ssize_t i = 0; result != NULL && launchers != NULL && i < PyList_GET_SIZE(launchers); i++) {
        PyObject *launcher = PyList_GET_ITEM(launchers, i); /* borrowed from the list, which only grows */
        const KernelProfile *one = ((Launcher *)launcher)->profile;
        PyObject *row = Py_BuildValue("(OLLLLL)", launcher, one->runs, one->timed, (long long)one->ns,
                                      (long long)one->bytes_in, (long long)one->bytes_out); /* owned */
        if (row == NULL || PyList_Append(result, row) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(row);
    }
    Py_XDECREF(launchers);
    return result;
}
