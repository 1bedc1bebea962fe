/* A KernelFunction has no bytecode. A call checks its guards, which fetch the kernel's inputs, and runs the kernel. If a
 * guard fails, or the kernel leaves at an exit that is no return, the call raises: its caller has another way. */
#include "function/gradients/kernel_function.h"
#include "capsule_inl.h"
#include "evaluate.h"
#include "function/dispatch.h"
#include "launcher/launch_api.h"
#include <structmember.h>

#define MOST_FETCHED 64

typedef struct {
    PyObject_HEAD
    const GuardsAPI *guards;
    PyObject *program;  /* owned: guards over the arguments and the namespace, which fetch the inputs */
    PyObject *launcher; /* owned */
    PyObject *globals;  /* owned: a dict, the namespace */
    PyObject *builtins; /* owned: a dict */
    PyObject *left;     /* owned: the class of the exception of a kernel that gives a call up */
    PyObject *other;    /* owned: the class of the exception for arguments that the guards refuse */
} KernelFunction;

/* Run the kernel on inputs: NEW reference to the result, or NULL with an exception set. */
static PyObject *
kernel_run(const KernelFunction *self, PyObject *const *inputs, Py_ssize_t count)
{
    PyObject *result = NULL; /* owned, given away */
    Left left;               /* the values are not cleared: only as many as the launcher counts are read */
    left.lands = NULL;
    left.nexits = 0;
    Launched status = launch_api->launch(self->launcher, inputs, count, self->globals, self->builtins, &left, &result);
    if (status == LAUNCH_RETURNED || (status == LAUNCH_LEFT && result == NULL)) {
        return result;
    }
    Py_XDECREF(result);
    PyErr_SetString(self->left, "the kernel left the call");
    return NULL;
}

static PyObject *
kernel_function_call(KernelFunction *self, PyObject *args, PyObject *kwargs)
{
    PyObject *inputs[MOST_FETCHED]; /* owned */
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0) {
        PyErr_SetString(PyExc_TypeError, "a kernel function takes no keyword arguments");
        return NULL;
    }
    Py_ssize_t count = self->guards->program_fetch_count(self->program);
    if (!self->guards->program_check(self->program, ((PyTupleObject *)args)->ob_item, PyTuple_GET_SIZE(args), self->globals,
                                     self->builtins, inputs)) {
        PyErr_SetString(self->other, "the kernel is not for these arguments");
        return NULL;
    }
    PyObject *result = kernel_run(self, inputs, count); /* owned, given away */
    while (count > 0) {
        Py_DECREF(inputs[--count]);
    }
    return result;
}

/* ---- The type -------------------------------------------------------------------------------------------- */

/* Whether the parts fit; if not, an exception is set. */
static int
parts_fit(const GuardsAPI *guards, PyObject *program, PyObject *launcher, PyObject *left, PyObject *other)
{
    if (!guards->is_program(program) || !launch_api->is_launcher(launcher) || !PyExceptionClass_Check(left)
        || !PyExceptionClass_Check(other)) {
        PyErr_SetString(PyExc_TypeError, "KernelFunction takes a GuardProgram, a Launcher and two classes of exceptions");
        return 0;
    }
    if (guards->program_fetch_count(program) > MOST_FETCHED) {
        PyErr_Format(PyExc_ValueError, "program must fetch at most %d inputs", MOST_FETCHED);
        return 0;
    }
    return 1;
}

static PyObject *
kernel_function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"program", "launcher", "globals", "builtins", "left", "other", NULL};
    PyObject *program, *launcher, *globals, *builtins, *left, *other; /* borrowed */
    const GuardsAPI *guards = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION);
    if (guards == NULL || launch_ready() < 0
        || !PyArg_ParseTupleAndKeywords(args, kwargs, "OOO!O!OO:KernelFunction", names, &program, &launcher, &PyDict_Type,
                                        &globals, &PyDict_Type, &builtins, &left, &other)
        || !parts_fit(guards, program, launcher, left, other)) {
        return NULL;
    }
    KernelFunction *self = (KernelFunction *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        self->guards = guards;
        PyObject *given[] = {program, launcher, globals, builtins, left, other};
        PyObject **kept[] = {&self->program, &self->launcher, &self->globals, &self->builtins, &self->left, &self->other};
        for (int i = 0; i < 6; i++) {
            Py_INCREF(given[i]);
            *kept[i] = given[i];
        }
    }
    return (PyObject *)self;
}

static int
kernel_function_traverse(KernelFunction *self, visitproc visit, void *arg)
{
    Py_VISIT(self->program);
    Py_VISIT(self->launcher);
    Py_VISIT(self->globals);
    Py_VISIT(self->builtins);
    Py_VISIT(self->left);
    Py_VISIT(self->other);
    return 0;
}

static void
kernel_function_dealloc(KernelFunction *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->program);
    Py_XDECREF(self->launcher);
    Py_XDECREF(self->globals);
    Py_XDECREF(self->builtins);
    Py_XDECREF(self->left);
    Py_XDECREF(self->other);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef kernel_function_members[] = {
    {"program", T_OBJECT_EX, offsetof(KernelFunction, program), READONLY, "The guards."},
    {"launcher", T_OBJECT_EX, offsetof(KernelFunction, launcher), READONLY, "The launcher of the kernel."},
    {NULL},
};

/* Like a tuple it has all its references from construction on, so it needs no tp_clear. */
PyTypeObject KernelFunction_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.KernelFunction",
    .tp_basicsize = sizeof(KernelFunction),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "KernelFunction(program, launcher, globals, builtins, left, other)\n--\n\nA function that is one kernel.",
    .tp_new = kernel_function_new,
    .tp_dealloc = (destructor)kernel_function_dealloc,
    .tp_traverse = (traverseproc)kernel_function_traverse,
    .tp_call = (ternaryfunc)kernel_function_call,
    .tp_members = kernel_function_members,
};
