/* One call of a Launcher: guard program, frame words, kernel, answer. launcher.c describes launchers.
 *
 * Calls come from linked code, or from a JitFunction whose function has no frame yet (launch_api.h). */
#include "cpython/caller.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/abi.h"
#include "launcher/codes/codes.h"
#include "launcher/kernel_frame_inl.h"
#include "launcher/timing/kernel_profile.h"
#include "launcher/launcher.h"
#include "launcher/exits_inl.h"
#include "launcher/marshal/inputs_inl.h"
#include "checks/local_checks_inl.h"
#include "runtime/thread_pool.h"

/* Recursion levels that are reserved for a Python kernel. It treats each exception as an exit, and up to CPython 3.8 a
 * RecursionError that is caught lets the next one abort the process. */
#define PYTHON_KERNEL_DEPTH 60
#define SMALL_WORDS 256
#define SMALL_INPUTS 32

const GuardsAPI *guards_api;
KernelClock kernel_clock;

static PyObject *
launcher_miss(Launcher *self)
{
    self->misses++;
    gate_judge(&self->gate, 0);
    Py_INCREF(self->miss);
    return self->miss;
}

/* Run a kernel while other threads may hold the GIL. */
static int64_t
nogil_kernel(KernelCode kernel, int64_t *frame)
{
    pool_limit_keep(pool_limit());
    PyThreadState *tstate = PyEval_SaveThread();
    int64_t id = kernel(frame);
    pool_limit_keep(0);
    PyEval_RestoreThread(tstate);
    return id;
}

/* Run a kernel that needs no GIL, or that is timed. It is not inlined, to keep the stack frames of other runs small. */
static __attribute__((noinline)) int64_t
special_kernel(Launcher *self, int64_t *frame)
{
    KernelRun run = {.profile = NULL};
    int64_t start = kernel_clock.watchers > profiling ? now_ns() : 0;
    if (profiling) {
        frame_run_begin(&run, self, frame);
    }
    int64_t id = self->nogil ? nogil_kernel(self->kernel, frame) : self->kernel(frame);
    if (run.profile != NULL) {
        frame_run_end(&run, self, frame, id);
    }
    if (start != 0) {
        kernel_clock.ns += now_ns() - start;
    }
    return id;
}

/* Call a Python kernel: its answer, a NEW reference, or NULL with an exception set. */
static PyObject *
python_kernel_call(Launcher *self, PyObject *const *fetched, PyObject *arguments)
{
    KernelRun run = {.profile = NULL};
    if (profiling) {
        python_run_begin(&run, self, fetched);
    }
    PyObject *answer = untraced_call(self->python_kernel, arguments); /* new: the result */
    if (run.profile != NULL) {
        python_run_end(&run, answer);
    }
    return answer;
}

ALWAYS_INLINE PyObject *
native_run(Launcher *self, PyObject *const *fetched, int64_t *frame, Caller *caller)
{
    OwnedList owned;
    PyObject *result;
    ValueSource source = {fetched, frame, NULL, 0, caller->globals, NULL};

    frame_begin(self, frame, &owned);
    int64_t id = self->nogil || kernel_clock.watchers > 0 ? special_kernel(self, frame) : self->kernel(frame);
    if (id >= 0) {
        result = exit_build(self, id, &source, caller);
    }
    else if (id == LAUNCHER_MISS) {
        result = launcher_miss(self);
    }
    else {
        result = NULL;
        if (id != LAUNCHER_ERROR || !PyErr_Occurred()) {
            PyErr_Format(PyExc_SystemError, "kernel of %R returned %lld without a reason", self->name, (long long)id);
        }
    }
    Py_XDECREF(source.instances);
    owned_clear(&owned);
    return result;
}

static PyObject *
python_run(Launcher *self, PyObject *const *fetched, Caller *caller)
{
    PyObject *arguments = NULL; /* owned */
    PyObject *answer = NULL;    /* owned */
    PyObject *result = NULL;    /* new: the result */
    ValueSource source = {fetched, NULL, NULL, 1, caller->globals, NULL};

    if (thread_levels_left(PyThreadState_Get()) < PYTHON_KERNEL_DEPTH) {
        return launcher_miss(self);
    }
    arguments = PyTuple_New(self->ninputs);
    if (arguments == NULL) {
        goto error;
    }
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        Py_INCREF(fetched[i]);
        PyTuple_SET_ITEM(arguments, i, fetched[i]);
    }
    answer = python_kernel_call(self, fetched, arguments);
    if (answer == NULL) {
        goto error;
    }
    if (answer == Py_None) {
        result = launcher_miss(self);
        goto error;
    }
    if (!PyTuple_CheckExact(answer) || PyTuple_GET_SIZE(answer) == 0 || !PyLong_Check(PyTuple_GET_ITEM(answer, 0))) {
        PyErr_Format(PyExc_SystemError, "Python kernel of %R did not return (exit id, values...)", self->name);
        goto error;
    }
    source.answer = answer;
    long long id = PyLong_AsLongLong(PyTuple_GET_ITEM(answer, 0));
    if (id == -1 && PyErr_Occurred()) {
        goto error;
    }
    result = exit_build(self, id, &source, caller);
    if (result != NULL && source.next != PyTuple_GET_SIZE(answer)) {
        PyErr_Format(PyExc_SystemError, "Python kernel of %R returned too many values", self->name);
        Py_CLEAR(result);
    }
error:
    Py_XDECREF(source.instances);
    Py_XDECREF(arguments);
    Py_XDECREF(answer);
    return result;
}

ALWAYS_INLINE PyObject *
inputs_run(Launcher *self, PyObject *const *fetched, int64_t *frame, Caller *caller)
{
    int64_t *words = frame + FIRST_INPUT_WORD;
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        const Input *input = &self->inputs[i];
        int fits = input->kind == IN_ARRAY ? array_load(input, fetched[i], words) : input_load(input, fetched[i], words);
        if (!fits) {
            return launcher_miss(self);
        }
        words += input->words;
    }
    return self->python_kernel == NULL ? native_run(self, fetched, frame, caller) : python_run(self, fetched, caller);
}

#define DOUBTS 2

/* The guards failed although those of the entry held. When this happens again, the segment was captured for values
 * that no longer occur. Then the entry is retired, so that the next call captures again. */
static void
entry_doubt(Launcher *self)
{
    if (self->entry == NULL || self->entry == Py_None || ++self->doubts < DOUBTS) {
        return;
    }
    PyObject *entry = self->entry; /* owned */
    self->entry = NULL;
    PyObject *done = PyObject_CallMethod(entry, "retire", NULL); /* owned */
    if (done == NULL) {
        PyErr_WriteUnraisable(entry);
    }
    Py_XDECREF(done);
    Py_DECREF(entry);
}

/* Check the guards in the scope of the calling frame; 1, and NEW references in `fetched`, or 0. */
static int
program_holds(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, PyObject **fetched)
{
    PyObject *globals = NULL, *builtins = NULL; /* borrowed: the calling frame is linked code, which outlives this call */
    if (self->scoped) {
        PyThreadState *tstate = PyThreadState_Get();
        globals = self->globals != NULL ? self->globals : caller_globals(tstate);
        builtins = self->builtins != NULL ? self->builtins : caller_builtins(tstate);
    }
    return guards_api->program_check(self->program, values, nvalues, globals, builtins, fetched);
}

ALWAYS_INLINE PyObject *
guarded_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, PyObject **fetched, int64_t *frame, Caller *caller)
{
    int owned = self->program != NULL; /* whether `fetched` holds references; elision.c counts them */
    if (!owned) {
        if (nvalues != self->ninputs) {
            PyErr_Format(PyExc_TypeError, "launcher %R takes %zd arguments, got %zd", self->name, self->ninputs, nvalues);
            return NULL;
        }
        fetched = (PyObject **)values;
    }
    else if (self->local_checks == NULL || !local_checks_hold(self->local_checks, values, nvalues, fetched)) {
        if (!program_holds(self, values, nvalues, fetched)) {
            entry_doubt(self);
            return launcher_miss(self);
        }
    }
    PyObject *result = inputs_run(self, fetched, frame, caller); /* new: the result */
    for (Py_ssize_t i = 0; owned && i < self->ninputs; i++) {
        Py_DECREF(fetched[i]);
    }
    return result;
}

/* As guarded_run, with the frame on the heap. */
static PyObject *
large_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, Caller *caller)
{
    int64_t *frame = PyMem_Malloc(self->words * sizeof(int64_t) + self->ninputs * sizeof(PyObject *));
    if (frame == NULL) {
        return PyErr_NoMemory();
    }
    /* new: the result */
    PyObject *result = guarded_run(self, values, nvalues, (PyObject **)(frame + self->words), frame, caller);
    PyMem_Free(frame);
    return result;
}

static PyObject *
sized_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, Caller *caller)
{
    int64_t frame[SMALL_WORDS];
    PyObject *fetched[SMALL_INPUTS]; /* items owned if there is a guard program */

    if (self->words > SMALL_WORDS || self->ninputs > SMALL_INPUTS) {
        return large_run(self, values, nvalues, caller);
    }
    return guarded_run(self, values, nvalues, fetched, frame, caller);
}

/* As sized_run, with the locals of the calling frame in the launcher's slots after the values; a miss if one is
 * unbound. */
static PyObject *
slots_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, Caller *caller)
{
    Py_ssize_t count = nvalues + self->nslots;
    PyObject *few[SMALL_INPUTS]; /* items are borrowed, except the locals */
    PyObject **all = few;        /* owned if it is not `few` */

    if (count > SMALL_INPUTS && (all = PyMem_New(PyObject *, count)) == NULL) {
        return PyErr_NoMemory();
    }
    memcpy(all, values, nvalues * sizeof(PyObject *));
    PyObject *result; /* new: the result */
    if (caller_locals(PyThreadState_Get(), self->slots, self->nslots, all + nvalues)) {
        result = sized_run(self, all, count, caller);
        caller_locals_end(all + nvalues, self->nslots);
    }
    else {
        result = launcher_miss(self);
    }
    if (all != few) {
        PyMem_Free(all);
    }
    return result;
}

/* Whether A/B timing lets bytecode run the loop of this launcher now. A finished timing is dropped. */
static int
timing_prefers_bytecode(Launcher *self)
{
    LoopTiming *timing = self->timing; /* borrowed from self */
    if (self->clock) {
        loop_timing_tick(timing);
    }
    int plain = timing->plain;
    timing->misses += plain;
    if (timing->state == LOOP_LOST) {
        self->enabled = 0;
        Py_CLEAR(self->prepare);
    }
    if (timing->state == LOOP_LOST || timing->state == LOOP_KEPT) {
        Py_CLEAR(self->timing);
    }
    return plain;
}

/* Whether a tool of sys.monitoring listens to a function that the kernel has inlined. */
static inline int
inlined_is_monitored(const Launcher *self)
{
    return self->has_code && self->program != NULL && monitoring_in_use()
           && guards_api->program_has_code(self->program, monitoring_listens_to);
}

PyObject *
launcher_call(PyObject *object, PyObject *const *values, Py_ssize_t nvalues)
{
    Launcher *self = (Launcher *)object;

    if (hand_overs != NULL) {
        PyObject *answer; /* new: the result */
        if (hand_over_take(self, &answer)) {
            return answer;
        }
    }
    PyThreadState *tstate = PyThreadState_Get();
    self->calls++;
    /* Tracing was switched on since the frame started: a tracer must see the frames and calls that the kernel
     * replaces. */
    if (thread_is_traced(tstate) || inlined_is_monitored(self)) {
        return launcher_miss(self);
    }
    if (self->timing != NULL && timing_prefers_bytecode(self)) {
        return launcher_miss(self);
    }
    if (!self->enabled) {
        int status = self->prepare != NULL ? kernel_prepare(self) : 0;
        if (status <= 0) {
            return status < 0 ? NULL : launcher_miss(self);
        }
    }
    Caller caller = {NULL, NULL, 0, 0};
    return self->nslots == 0 ? sized_run(self, values, nvalues, &caller) : slots_run(self, values, nvalues, &caller);
}

/* As inputs_run, with a frame of the right size. */
static PyObject *
fetched_run(Launcher *self, PyObject *const *fetched, Caller *caller)
{
    int64_t small[SMALL_WORDS];
    if (self->words <= SMALL_WORDS) {
        return inputs_run(self, fetched, small, caller);
    }
    int64_t *frame = PyMem_New(int64_t, self->words);
    if (frame == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = inputs_run(self, fetched, frame, caller); /* new: the result */
    PyMem_Free(frame);
    return result;
}

Launched
launcher_launch(PyObject *object, PyObject *const *inputs, Py_ssize_t ninputs, PyObject *globals, PyObject *builtins,
                Left *left, PyObject **result)
{
    Launcher *self = (Launcher *)object;
    Caller caller = {globals, left, 0, 0};

    if (!self->enabled || self->timing != NULL || ninputs != self->ninputs || inlined_is_monitored(self)) {
        return LAUNCH_MISSED;
    }
    *result = fetched_run(self, inputs, &caller);
    if (*result == self->miss) {
        self->misses--; /* the caller calls again from linked code, which counts it */
        Py_CLEAR(*result);
        return LAUNCH_MISSED;
    }
    self->calls++;
    if (caller.landed && *result != NULL) {
        Py_CLEAR(*result);
        return LAUNCH_LANDED;
    }
    return caller.returned && *result != NULL ? LAUNCH_RETURNED : LAUNCH_LEFT;
}
