/* pijit.core._launcher: launchers, which call kernels from linked bytecode.
 *
 * A Launcher belongs to one region of one code object. Linked bytecode calls Launcher.callable with the region's
 * live-ins. This is a METH_FASTCALL builtin whose self is the Launcher, the cheapest call on CPython 3.7 to 3.10:
 *
 *     guard program -> fetched inputs -> frame words -> kernel -> (exit id, None padding, values...)
 *
 * At some exits with one value the result is that value (Exit.bare). It is (-1, None padding) - MISS - when a guard
 * fails, an input does not fit its code, the kernel bails out, or the thread is traced. Then the original bytecode runs. All codes are parsed into flat structs at construction
 * (codes.h), which launch.c runs. A call does no Python-level work.
 *
 * A launcher made with None for globals and builtins looks names up in those of the calling frame. So linked code
 * keeps no namespace alive: the garbage collector does not see into code objects. The state of a call is on the C
 * stack unless the frame is large, so calls may nest and recurse. The frame words after the inputs are zero when the
 * kernel starts. abi.h defines the protocol with kernels. */
#define NUMPY_API_MAIN
#include "launcher/launcher.h"
#include "capsule_inl.h"
#include "module_inl.h"
#include "cpython/caller.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/abi.h"
#include "launcher/abi_tables.h"
#include "launcher/answers.h"
#include "launcher/callbacks/c_callback.h"
#include "launcher/codes/codes.h"
#include "launcher/codes/exit_codes.h"
#include "launcher/codes/input_codes.h"
#include "launcher/timing/kernel_profile.h"
#include "launcher/marshal/iterators.h"
#include "launcher/polls.h"
#include "launcher/python_entries.h"
#include "runtime/thread_pool.h"
#include <structmember.h>
#include <numpy/ufuncobject.h>

static PyMethodDef callable_method = {
    "launch",
    (PyCFunction)(void (*)(void))launcher_call,
    METH_FASTCALL,
    "Runs the kernel on a region's live-ins; answers (exit id, None..., values...) or (-1, None...).",
};

/* ---- construction ---- */

/* Parse the codes. On failure the parts made so far stay in self, for launcher_dealloc. */
static int
codes_set(Launcher *self, PyObject *inputs, PyObject *exits, PyObject *numbers)
{
    Py_ssize_t input_end = inputs_parse(inputs, &self->inputs, &self->ninputs);
    if (input_end < 0) {
        return -1;
    }
    if (input_end > self->output_word || self->output_word > self->words || self->words > PY_SSIZE_T_MAX / 16) {
        PyErr_Format(PyExc_ValueError, "inputs end at word %zd, outputs begin at %zd, the frame has %zd words", input_end,
                     self->output_word, self->words);
        return -1;
    }
    CodeLimits limits = {self->inputs, self->ninputs, self->words, self->width};
    return exits_parse(&limits, exits, numbers, &self->exits, &self->nexits);
}

static int
slots_set(Launcher *self, PyObject *slots)
{
    Py_ssize_t count = PyTuple_GET_SIZE(slots);
    self->slots = PyMem_New(Py_ssize_t, count);
    if (self->slots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (self->nslots = 0; self->nslots < count; self->nslots++) {
        Py_ssize_t slot = PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, self->nslots));
        if (slot < 0) {
            if (!PyErr_Occurred()) {
                PyErr_Format(PyExc_ValueError, "slots must not be negative, got %zd", slot);
            }
            return -1;
        }
        self->slots[self->nslots] = slot;
    }
    return 0;
}

static int
kernel_set(Launcher *self, PyObject *kernel)
{
    if (PyLong_CheckExact(kernel)) {
        self->kernel = (KernelCode)PyLong_AsVoidPtr(kernel);
        if (self->kernel == NULL && !PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "the kernel's address is 0");
        }
        return self->kernel == NULL ? -1 : 0;
    }
    if (!PyCallable_Check(kernel)) {
        PyErr_Format(PyExc_TypeError, "kernel must be an address or a callable, got %R", kernel);
        return -1;
    }
    Py_INCREF(kernel);
    self->python_kernel = kernel;
    return 0;
}

int
kernel_prepare(Launcher *self)
{
    PyObject *prepare = self->prepare; /* owned: a recursive or concurrent call may finish first and clear it */
    Py_INCREF(prepare);
    PyObject *made = PyObject_CallObject(prepare, NULL); /* owned */
    Py_DECREF(prepare);
    int status = made == NULL ? -1 : self->enabled;
    if (status == 0 && made != Py_None && self->prepare != NULL) {
        PyObject *kernel, *owner; /* borrowed */
        Py_ssize_t words;
        status = PyArg_Parse(made, "(OOn)", &kernel, &owner, &words) && kernel_set(self, kernel) == 0 ? 1 : -1;
        if (status == 1) {
            self->words = words > self->words ? words : self->words;
            Py_INCREF(owner);
            Py_SETREF(self->owner, owner);
            self->enabled = 1;
        }
    }
    Py_XDECREF(made);
    if (status >= 0) {
        Py_CLEAR(self->prepare);
    }
    return status;
}

static int
any_code(PyCodeObject *code)
{
    return 1;
}

static int
program_set(Launcher *self, PyObject *program)
{
    if (program == Py_None) {
        return 0;
    }
    if (guards_api == NULL
        && (guards_api = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION)) == NULL) {
        return -1;
    }
    if (!guards_api->is_program(program)) {
        PyErr_Format(PyExc_TypeError, "not a guard program: %R", program);
        return -1;
    }
    Py_INCREF(program);
    self->program = program;
    self->scoped = guards_api->program_is_scoped(program);
    self->local_checks = guards_api->program_local_checks(program);
    self->has_code = guards_api->program_has_code(program, any_code);
    if (guards_api->program_fetch_count(program) != self->ninputs) {
        PyErr_Format(PyExc_ValueError, "the guard program fetches %zd values, there are %zd input codes",
                     guards_api->program_fetch_count(program), self->ninputs);
        return -1;
    }
    return 0;
}

/* ---- the type ---- */

static int
launcher_traverse(Launcher *self, visitproc visit, void *arg)
{
    Py_VISIT(self->program);
    Py_VISIT(self->globals);
    Py_VISIT(self->builtins);
    Py_VISIT(self->python_kernel);
    Py_VISIT(self->callable);
    Py_VISIT(self->owner);
    Py_VISIT(self->prepare);
    Py_VISIT(self->entry);
    Py_VISIT(self->timing);
    return exits_visit(self->exits, self->nexits, visit, arg);
}

/* Leave an object that answers MISS: a builtin that outlives the cycle may still be called. */
static int
launcher_clear(Launcher *self)
{
    Exit *exits = self->exits;
    Py_ssize_t nexits = self->nexits;
    self->enabled = 0;
    self->exits = NULL;
    self->nexits = 0;
    exits_free(exits, nexits);
    self->local_checks = NULL;
    Py_CLEAR(self->program);
    Py_CLEAR(self->globals);
    Py_CLEAR(self->builtins);
    Py_CLEAR(self->python_kernel);
    Py_CLEAR(self->callable);
    Py_CLEAR(self->owner);
    Py_CLEAR(self->prepare);
    Py_CLEAR(self->entry);
    Py_CLEAR(self->timing);
    return 0;
}

static void
launcher_dealloc(Launcher *self)
{
    PyObject_GC_UnTrack(self);
    launcher_clear(self);
    Py_XDECREF(self->miss);
    Py_XDECREF(self->name);
    inputs_free(self->inputs, self->ninputs);
    PyMem_Free(self->slots);
    PyMem_Free(self->causes);
    PyMem_Free(self->profile);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* A new reference to a namespace, or NULL without an exception for None. */
static PyObject *
scope_or_null(PyObject *scope)
{
    if (scope == Py_None) {
        return NULL;
    }
    Py_INCREF(scope);
    return scope;
}

static PyObject *
launcher_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"program", "globals", "builtins",   "inputs",  "words", "output_word", "kernel",  "exits",
                            "width",   "name",    "owner",      "numbers", "polls", "prepare",     "returns", "held",
                            "slots",   "nogil",   "iterations", "gate",    "bare",  NULL};
    PyObject *program, *globals, *builtins, *inputs, *kernel, *exits, *name; /* borrowed */
    PyObject *owner = Py_None, *numbers = Py_None, *polls = Py_None;         /* borrowed */
    PyObject *prepare = Py_None, *returns = Py_None, *held = Py_None;        /* borrowed */
    PyObject *slots = NULL, *iterations = Py_None, *bare = Py_None;          /* borrowed */
    Py_ssize_t words, output_word, width;
    int nogil = 0, gate = 0;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO!nnOO!nU|OOOOOOO!pOpO:Launcher", names, &program, &globals, &builtins,
                                     &PyTuple_Type, &inputs, &words, &output_word, &kernel, &PyTuple_Type, &exits, &width,
                                     &name, &owner, &numbers, &polls, &prepare, &returns, &held, &PyTuple_Type, &slots, &nogil,
                                     &iterations, &gate, &bare)) {
        return NULL;
    }
    if (width < 0) {
        PyErr_Format(PyExc_ValueError, "width must not be negative, got %zd", width);
        return NULL;
    }
    Launcher *self = (Launcher *)type->tp_alloc(type, 0); /* new: the result */
    if (self == NULL) {
        return NULL;
    }
    self->words = words;
    self->output_word = output_word;
    self->width = width;
    self->nogil = nogil;
    self->globals = scope_or_null(globals);
    self->builtins = scope_or_null(builtins);
    Py_INCREF(name);
    self->name = name;
    Py_INCREF(owner);
    self->owner = owner;
    self->gate = gate_new(gate);
    self->is_bare = bare != Py_None && PyTuple_Check(bare) && PyTuple_GET_SIZE(bare) > 0;
    self->miss = miss_build(self->is_bare, width);
    self->callable = PyCFunction_New(&callable_method, (PyObject *)self);
    if (self->miss == NULL || self->callable == NULL || codes_set(self, inputs, exits, numbers) < 0
        || exits_mark(polls, returns, bare, self->exits, self->nexits) < 0 || held_set(held, self->exits, self->nexits) < 0
        || iterations_set(iterations, self->exits, self->nexits) < 0 || (prepare == Py_None && kernel_set(self, kernel) < 0)
        || program_set(self, program) < 0 || (slots != NULL && slots_set(self, slots) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    if (prepare != Py_None) {
        Py_INCREF(prepare);
        self->prepare = prepare;
    }
    self->enabled = prepare == Py_None;
    return (PyObject *)self;
}

static PyObject *
launcher_get_enabled(Launcher *self, void *closure)
{
    return PyBool_FromLong(self->enabled);
}

static int
launcher_set_enabled(Launcher *self, PyObject *value, void *closure)
{
    if (value == NULL) {
        PyErr_SetString(PyExc_AttributeError, "enabled cannot be deleted");
        return -1;
    }
    int enabled = PyObject_IsTrue(value);
    if (enabled < 0) {
        return -1;
    }
    self->enabled = enabled && self->exits != NULL && (self->kernel != NULL || self->python_kernel != NULL);
    return 0;
}

static PyObject *
launcher_get_timing(Launcher *self, void *closure)
{
    PyObject *timing = self->timing != NULL ? (PyObject *)self->timing : Py_None; /* new: the result */
    Py_INCREF(timing);
    return timing;
}

static int
launcher_set_timing(Launcher *self, PyObject *value, void *closure)
{
    if (value == NULL || (value != Py_None && Py_TYPE(value) != &LoopTiming_Type)) {
        PyErr_SetString(PyExc_TypeError, "timing must be a LoopTiming or None");
        return -1;
    }
    Py_INCREF(value);
    LoopTiming *timing = value != Py_None ? (LoopTiming *)value : NULL;
    if (timing == NULL) {
        Py_DECREF(value);
    }
    Py_XSETREF(self->timing, timing);
    return 0;
}

static PyObject *
launcher_get_exit_counts(Launcher *self, void *closure)
{
    return exits_count(self->exits, self->nexits);
}

static PyObject *
launcher_get_cause_counts(Launcher *self, void *closure)
{
    PyObject *counts = PyTuple_New(self->ncauses); /* new: the result */
    for (Py_ssize_t i = 0; counts != NULL && i < PyTuple_GET_SIZE(counts); i++) {
        PyObject *count = PyLong_FromLongLong(self->causes[i]); /* moved into the tuple */
        if (count == NULL) {
            Py_CLEAR(counts);
            break;
        }
        PyTuple_SET_ITEM(counts, i, count);
    }
    return counts;
}

static PyObject *
launcher_get_address(Launcher *self, void *closure)
{
    return PyLong_FromVoidPtr((void *)self->kernel);
}

/* The step of the launcher as an iterator, at a loop header: None to enter the kernel; NULL without an exception to
 * stay in bytecode. */
static PyObject *
launcher_arrive(Launcher *self)
{
    if (!gate_opens(&self->gate) || !(self->enabled || self->prepare != NULL) || (self->timing != NULL && self->timing->plain)
        || thread_is_traced(PyThreadState_Get())) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
launcher_repr(Launcher *self)
{
    return PyUnicode_FromFormat("<Launcher %R: %lld calls, %lld misses>", self->name, self->calls, self->misses);
}

static PyGetSetDef launcher_getset[] = {
    {"enabled", (getter)launcher_get_enabled, (setter)launcher_set_enabled, "False: every call answers MISS", NULL},
    {"timing", (getter)launcher_get_timing, (setter)launcher_set_timing, "the LoopTiming that measures it, or None", NULL},
    {"exit_counts", (getter)launcher_get_exit_counts, NULL, "how often each exit was taken", NULL},
    {"cause_counts", (getter)launcher_get_cause_counts, NULL, "how often the kernel left for each cause, from 1 on", NULL},
    {"address", (getter)launcher_get_address, NULL, "the kernel's address, 0 for a Python kernel", NULL},
    {NULL},
};

static PyMemberDef launcher_members[] = {
    {"callable", T_OBJECT_EX, offsetof(Launcher, callable), READONLY, "what linked bytecode calls"},
    {"calls", T_LONGLONG, offsetof(Launcher, calls), READONLY, "how often it was called"},
    {"misses", T_LONGLONG, offsetof(Launcher, misses), READONLY, "how often it answered MISS"},
    {"name", T_OBJECT_EX, offsetof(Launcher, name), READONLY, "a name for messages"},
    {"owner", T_OBJECT, offsetof(Launcher, owner), READONLY, "the object that keeps the kernel alive"},
    {"program", T_OBJECT, offsetof(Launcher, program), READONLY, "the guard program or None"},
    {"entry", T_OBJECT, offsetof(Launcher, entry), 0, "the entry's guard program, retired when guards here keep failing"},
    {"wait", T_INT, offsetof(Launcher, gate.wait), 0, "how often bytecode arrives at the gate until it opens"},
    {"longest_wait", T_INT, offsetof(Launcher, gate.longest_wait), 0, "the most that it waits for"},
    {"clock", T_BOOL, offsetof(Launcher, clock), 0, "whether it is the launcher whose calls its timing counts"},
    {"width", T_PYSSIZET, offsetof(Launcher, width), READONLY, "values in an answer after the exit id"},
    {"nogil", T_INT, offsetof(Launcher, nogil), READONLY, "whether its kernel runs without the GIL"},
    {NULL},
};

static PyTypeObject launcher_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._launcher.Launcher",
    .tp_doc = "Calls one kernel from linked bytecode; see the module's type stub.",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = launcher_new,
    .tp_dealloc = (destructor)launcher_dealloc,
    .tp_traverse = (traverseproc)launcher_traverse,
    .tp_clear = (inquiry)launcher_clear,
    .tp_repr = (reprfunc)launcher_repr,
    .tp_iternext = (iternextfunc)launcher_arrive,
    .tp_getset = launcher_getset,
    .tp_members = launcher_members,
};

/* ---- the module ---- */

static PyObject *
module_resume(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    breaker_restore();
    Py_RETURN_NONE;
}

static PyObject *
module_threads(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    int started;
    long long loops;
    pool_counts(&started, &loops);
    return Py_BuildValue("(iiL)", pool_limit(), started, loops);
}

static PyMethodDef launcher_functions[] = {
    {"threads", module_threads, METH_NOARGS, "(how many threads a loop may use, helpers, loops they have shared)"},
    {"set_profiling", profiling_set, METH_O, "Count the runs of kernels and their time from now on, or no longer."},
    {"kernel_times", kernel_times, METH_NOARGS, "[(launcher, runs, timed runs, ns, bytes in, bytes out)] while profiling."},
    {"begin_span", python_span_begin, METH_NOARGS, "Begin a span of time; what end_span takes."},
    {"end_span", python_span_end, METH_O, "The nanoseconds of a span that were spent in no span inside it."},
    {"resume", module_resume, METH_NOARGS, "Show bytecode the requests that a poll exit has held back."},
    {NULL},
};

static struct PyModuleDef launcher_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.core._launcher",
    .m_doc = "Calls kernels from linked bytecode, and the functions that kernels call.",
    .m_size = -1,
    .m_methods = launcher_functions,
};

MODULE_INIT
PyInit__launcher(void)
{
    import_array();
    import_umath();
    if (iterators_check() < 0 || answers_ready() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&launcher_module); /* new: the result */
    if (module == NULL) {
        return NULL;
    }
    if (polls_register(module) < 0 || module_add_type(module, "Launcher", &launcher_type) < 0
        || module_add_type(module, "LoopTiming", &LoopTiming_Type) < 0
        || PyModule_AddIntConstant(module, "MISS", LAUNCHER_MISS) < 0
        || PyModule_AddIntConstant(module, "ERROR", LAUNCHER_ERROR) < 0 || PyModule_AddFunctions(module, entry_functions) < 0
        || abi_tables_register(module) < 0 || runtime_register(module) < 0 || callbacks_register(module, &launcher_type) < 0
        || launch_api_register(module, &launcher_type) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
