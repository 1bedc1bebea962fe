/* pijit.core._launcher: calls a kernel from linked bytecode.
 *
 * A Launcher belongs to one region of one code object. Linked bytecode calls Launcher.callable, a
 * METH_FASTCALL builtin whose self is the Launcher (on CPython 3.7 to 3.10 that is the cheapest call there
 * is), with the region's live-ins:
 *
 *     guard program -> fetched inputs -> frame words -> kernel -> (exit id, None padding, values...)
 *
 * and gets (-1, None padding) - MISS - when a guard fails, an input does not fit its code, or the kernel
 * declines. The original bytecode runs then. All codes are parsed into flat structs at construction
 * (marshal.h); a call does no Python-level work. Launchers made with None for globals and builtins look names
 * up where the calling frame does: linked code then keeps no namespace alive, which matters because the garbage
 * collector does not see into code objects. What a call needs lives on the C stack unless the frame is
 * large, so calls may nest and recurse. The frame words behind the inputs are zero when the kernel starts.
 * See launcher.h for the protocol with kernels. */
#define LAUNCHER_MAIN
#include "launcher.h"
#include "breaker.h"
#include "marshal.h"
#include "evaluate.h"
#include "untraced.h"
#include <structmember.h>

#define SMALL_WORDS 256
#define SMALL_INPUTS 32

typedef struct {
    PyObject_HEAD
    PyObject *program;          /* owned, or NULL: the call arguments are the inputs */
    PyObject *globals;          /* owned, or NULL: those of the calling frame */
    PyObject *builtins;         /* owned, or NULL: those of the calling frame */
    PyObject *python_kernel;    /* owned, or NULL */
    PyObject *callable;         /* owned: makes a cycle with this object, hence the GC support */
    PyObject *miss;             /* owned: the shared answer of a miss */
    PyObject *name;             /* owned */
    PyObject *owner;            /* owned: keeps the machine code alive */
    PyObject *prepare;          /* owned, or NULL: makes the kernel at the first call */
    KernelFunction kernel;
    Input *inputs;              /* owned */
    Py_ssize_t ninputs;
    Exit *exits;                /* owned; NULL in a cleared launcher */
    Py_ssize_t nexits;
    Py_ssize_t words;
    Py_ssize_t output_word;
    Py_ssize_t width;
    long long calls;
    long long misses;
    int enabled;
} Launcher;

static const GuardsAPI *guards_api;  /* set when the first launcher with a guard program is made */

/* ---- the hot path ---- */

static PyObject *
launcher_miss(Launcher *self)
{
    self->misses++;
    Py_INCREF(self->miss);
    return self->miss;
}

/* The answer for one exit: new reference. */
static PyObject *
exit_build(Launcher *self, int64_t id, ValueSource *source)
{
    if (id < 0 || id >= self->nexits) {
        PyErr_Format(PyExc_SystemError, "kernel of %R returned the unknown exit id %lld", self->name, (long long)id);
        return NULL;
    }
    Exit *exit = &self->exits[id];
    PyObject *result = PyTuple_New(self->width + 1);  /* new: the result */
    if (result == NULL) {
        return NULL;
    }
    exit->taken++;
    Py_INCREF(exit->id);
    PyTuple_SET_ITEM(result, 0, exit->id);
    Py_ssize_t position = 1;
    for (; position <= self->width - exit->count; position++) {
        Py_INCREF(Py_None);
        PyTuple_SET_ITEM(result, position, Py_None);
    }
    for (Py_ssize_t i = 0; i < exit->count; i++, position++) {
        PyObject *value = output_build(&exit->items[i], source);  /* moved into the tuple */
        if (value == NULL) {
            Py_DECREF(result);
            return NULL;
        }
        PyTuple_SET_ITEM(result, position, value);
    }
    if (exit->poll) {
        breaker_hold();
    }
    return result;
}

static PyObject *
native_run(Launcher *self, PyObject *const *fetched, int64_t *frame)
{
    OwnedList owned;
    PyObject *result;
    ValueSource source = {fetched, frame, NULL, 0};

    owned_init(&owned);
    frame[0] = (int64_t)runtime_table;
    frame[1] = (int64_t)&owned;
    memset(frame + self->output_word, 0, (self->words - self->output_word) * sizeof(int64_t));
    int64_t id = self->kernel(frame);
    if (id >= 0) {
        result = exit_build(self, id, &source);
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
    owned_clear(&owned);
    return result;
}

static PyObject *
python_run(Launcher *self, PyObject *const *fetched)
{
    PyObject *arguments = NULL;  /* owned */
    PyObject *answer = NULL;     /* owned */
    PyObject *result = NULL;     /* new: the result */
    ValueSource source = {fetched, NULL, NULL, 1};

    arguments = PyTuple_New(self->ninputs);
    if (arguments == NULL) {
        goto error;
    }
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        Py_INCREF(fetched[i]);
        PyTuple_SET_ITEM(arguments, i, fetched[i]);
    }
    answer = untraced_call(self->python_kernel, arguments);
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
    result = exit_build(self, id, &source);
    if (result != NULL && source.next != PyTuple_GET_SIZE(answer)) {
        PyErr_Format(PyExc_SystemError, "Python kernel of %R returned too many values", self->name);
        Py_CLEAR(result);
    }
error:
    Py_XDECREF(arguments);
    Py_XDECREF(answer);
    return result;
}

static PyObject *
inputs_run(Launcher *self, PyObject *const *fetched, int64_t *frame)
{
    int64_t *words = frame + FIRST_INPUT_WORD;
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        if (!input_load(&self->inputs[i], fetched[i], words)) {
            return launcher_miss(self);
        }
        words += input_words(&self->inputs[i]);
    }
    return self->python_kernel == NULL ? native_run(self, fetched, frame) : python_run(self, fetched);
}

static PyObject *
guarded_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues, PyObject **fetched, int64_t *frame)
{
    if (self->program == NULL) {
        if (nvalues != self->ninputs) {
            PyErr_Format(PyExc_TypeError, "launcher %R takes %zd arguments, got %zd",
                         self->name, self->ninputs, nvalues);
            return NULL;
        }
        return inputs_run(self, values, frame);
    }
    /* borrowed: the calling frame is linked code, which outlives this call */
    PyObject *globals = self->globals != NULL ? self->globals : PyEval_GetGlobals();
    PyObject *builtins = self->builtins != NULL ? self->builtins : PyEval_GetBuiltins();
    if (!guards_api->program_check(self->program, values, nvalues, globals, builtins, fetched)) {
        return launcher_miss(self);
    }
    PyObject *result = inputs_run(self, fetched, frame);  /* new: the result */
    for (Py_ssize_t i = 0; i < self->ninputs; i++) {
        Py_DECREF(fetched[i]);
    }
    return result;
}

/* As guarded_run, with the frame on the heap. */
static PyObject *
large_run(Launcher *self, PyObject *const *values, Py_ssize_t nvalues)
{
    int64_t *frame = PyMem_Malloc(self->words * sizeof(int64_t) + self->ninputs * sizeof(PyObject *));
    if (frame == NULL) {
        return PyErr_NoMemory();
    }
    PyObject *result = guarded_run(self, values, nvalues, (PyObject **)(frame + self->words), frame);
    PyMem_Free(frame);
    return result;
}

static int kernel_prepare(Launcher *self);

static PyObject *
launcher_call(PyObject *object, PyObject *const *values, Py_ssize_t nvalues)
{
    Launcher *self = (Launcher *)object;
    int64_t frame[SMALL_WORDS];
    PyObject *fetched[SMALL_INPUTS];

    self->calls++;
    if (!self->enabled) {
        int status = self->prepare != NULL ? kernel_prepare(self) : 0;
        if (status <= 0) {
            return status < 0 ? NULL : launcher_miss(self);
        }
    }
    if (self->words > SMALL_WORDS || self->ninputs > SMALL_INPUTS) {
        return large_run(self, values, nvalues);
    }
    return guarded_run(self, values, nvalues, fetched, frame);
}

static PyMethodDef callable_method = {
    "launch", (PyCFunction)(void (*)(void))launcher_call, METH_FASTCALL,
    "Runs the kernel on a region's live-ins; answers (exit id, None..., values...) or (-1, None...).",
};

/* ---- construction ---- */

/* Parses the codes; whatever was made stays in self, for launcher_dealloc. */
static int
codes_set(Launcher *self, PyObject *inputs, PyObject *exits, PyObject *numbers)
{
    Py_ssize_t input_end = inputs_parse(inputs, &self->inputs, &self->ninputs);
    if (input_end < 0) {
        return -1;
    }
    if (input_end > self->output_word || self->output_word > self->words || self->words > PY_SSIZE_T_MAX / 16) {
        PyErr_Format(PyExc_ValueError, "inputs end at word %zd, outputs begin at %zd, the frame has %zd words",
                     input_end, self->output_word, self->words);
        return -1;
    }
    CodeLimits limits = {self->inputs, self->ninputs, self->words, self->width};
    return exits_parse(&limits, exits, numbers, &self->exits, &self->nexits);
}

static int
kernel_set(Launcher *self, PyObject *kernel)
{
    if (PyLong_CheckExact(kernel)) {
        self->kernel = (KernelFunction)PyLong_AsVoidPtr(kernel);
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

/* Makes the kernel: 1, or 0 if there is none for it, or -1 with an exception set. */
static int
kernel_prepare(Launcher *self)
{
    PyObject *prepare = self->prepare;  /* owned: a recursive or concurrent call may be first to be done */
    Py_INCREF(prepare);
    PyObject *made = PyObject_CallObject(prepare, NULL);  /* owned */
    Py_DECREF(prepare);
    int status = made == NULL ? -1 : self->enabled;
    if (status == 0 && made != Py_None && self->prepare != NULL) {
        PyObject *kernel, *owner;  /* borrowed */
        status = PyArg_Parse(made, "(OO)", &kernel, &owner) && kernel_set(self, kernel) == 0 ? 1 : -1;
        if (status == 1) {
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
program_set(Launcher *self, PyObject *program)
{
    if (program == Py_None) {
        return 0;
    }
    if (guards_api == NULL && (guards_api = guards_import_api()) == NULL) {
        return -1;
    }
    if (!guards_api->is_program(program)) {
        PyErr_Format(PyExc_TypeError, "not a guard program: %R", program);
        return -1;
    }
    Py_INCREF(program);
    self->program = program;
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
    return exits_visit(self->exits, self->nexits, visit, arg);
}

/* Leaves an object that answers MISS: a builtin that outlives the cycle may still be called. */
static int
launcher_clear(Launcher *self)
{
    Exit *exits = self->exits;
    Py_ssize_t nexits = self->nexits;
    self->enabled = 0;
    self->exits = NULL;
    self->nexits = 0;
    exits_free(exits, nexits);
    Py_CLEAR(self->program);
    Py_CLEAR(self->globals);
    Py_CLEAR(self->builtins);
    Py_CLEAR(self->python_kernel);
    Py_CLEAR(self->callable);
    Py_CLEAR(self->owner);
    Py_CLEAR(self->prepare);
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
    static char *names[] = {"program", "globals", "builtins", "inputs", "words", "output_word", "kernel", "exits",
                            "width", "name", "owner", "numbers", "polls", "prepare", NULL};
    PyObject *program, *globals, *builtins, *inputs, *kernel, *exits, *name;  /* borrowed */
    PyObject *owner = Py_None, *numbers = Py_None, *polls = Py_None;          /* borrowed */
    PyObject *prepare = Py_None;                                              /* borrowed */
    Py_ssize_t words, output_word, width;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OOOO!nnOO!nU|OOOO:Launcher", names, &program, &globals, &builtins,
                                     &PyTuple_Type, &inputs, &words, &output_word, &kernel, &PyTuple_Type, &exits,
                                     &width, &name, &owner, &numbers, &polls, &prepare)) {
        return NULL;
    }
    if (width < 0) {
        PyErr_Format(PyExc_ValueError, "width must not be negative, got %zd", width);
        return NULL;
    }
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);  /* new: the result */
    if (self == NULL) {
        return NULL;
    }
    self->words = words;
    self->output_word = output_word;
    self->width = width;
    self->globals = scope_or_null(globals);
    self->builtins = scope_or_null(builtins);
    Py_INCREF(name);
    self->name = name;
    Py_INCREF(owner);
    self->owner = owner;
    self->miss = miss_build(width);
    self->callable = PyCFunction_New(&callable_method, (PyObject *)self);
    if (self->miss == NULL || self->callable == NULL || codes_set(self, inputs, exits, numbers) < 0
            || polls_mark(polls, self->exits, self->nexits) < 0
            || (prepare == Py_None && kernel_set(self, kernel) < 0) || program_set(self, program) < 0) {
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
launcher_get_exit_counts(Launcher *self, void *closure)
{
    return exits_count(self->exits, self->nexits);
}

static PyObject *
launcher_get_address(Launcher *self, void *closure)
{
    return PyLong_FromVoidPtr((void *)self->kernel);
}

static PyObject *
launcher_repr(Launcher *self)
{
    return PyUnicode_FromFormat("<Launcher %R: %lld calls, %lld misses>", self->name, self->calls, self->misses);
}

static PyGetSetDef launcher_getset[] = {
    {"enabled", (getter)launcher_get_enabled, (setter)launcher_set_enabled, "False: every call answers MISS", NULL},
    {"exit_counts", (getter)launcher_get_exit_counts, NULL, "how often each exit was taken", NULL},
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
    {"width", T_PYSSIZET, offsetof(Launcher, width), READONLY, "values in an answer behind the exit id"},
    {NULL},
};

static PyTypeObject launcher_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._launcher.Launcher",
    .tp_doc = "Calls one kernel from linked bytecode; see the module's type stub.",
    .tp_basicsize = sizeof(Launcher),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = launcher_new,
    .tp_dealloc = (destructor)launcher_dealloc,
    .tp_traverse = (traverseproc)launcher_traverse,
    .tp_clear = (inquiry)launcher_clear,
    .tp_repr = (reprfunc)launcher_repr,
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

static PyMethodDef launcher_functions[] = {
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

PyMODINIT_FUNC
PyInit__launcher(void)
{
    import_array();
    if (iterators_check() < 0) {
        return NULL;
    }
    if (PyType_Ready(&launcher_type) < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&launcher_module);  /* new: the result */
    PyObject *breaker = PyLong_FromVoidPtr(breaker_address());  /* moved to the module */
    if (module == NULL || breaker == NULL || PyModule_AddObject(module, "EVAL_BREAKER", breaker) < 0) {
        Py_XDECREF(breaker);
        Py_XDECREF(module);
        return NULL;
    }
    Py_INCREF(&launcher_type);
    if (PyModule_AddObject(module, "Launcher", (PyObject *)&launcher_type) < 0
            || PyModule_AddIntConstant(module, "MISS", LAUNCHER_MISS) < 0
            || PyModule_AddIntConstant(module, "ERROR", LAUNCHER_ERROR) < 0
            || runtime_register(module) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
