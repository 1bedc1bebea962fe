/* CCallback: the object. It has all its references from construction on, like a tuple. */
#include "launcher/callbacks/c_callback.h"
#include "capsule_inl.h"
#include "launcher/callbacks/c_signatures.h"
#include "module_inl.h"
#include <structmember.h>

#define DATA_NAME "pijit.core._launcher.CCallback"

static PyTypeObject *launcher_type; /* borrowed: static */

int
callbacks_register(PyObject *module, PyTypeObject *type)
{
    launcher_type = type;
    return module_add_type(module, "CCallback", &CCallback_Type);
}

/* The local variables and cells that a call starts with; `unbound` stands for none. 0, or -1 with an exception set. */
static int
roots_set(CCallback *self, PyObject *roots, PyObject *unbound)
{
    self->roots = PyMem_New(PyObject *, PyList_GET_SIZE(roots) + 1);
    if (self->roots == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; self->nroots < PyList_GET_SIZE(roots); self->nroots++) {
        PyObject *root = PyList_GET_ITEM(roots, self->nroots); /* borrowed, then owned by self */
        root = root == unbound ? NULL : root;
        Py_XINCREF(root);
        self->roots[self->nroots] = root;
    }
    return 0;
}

/* The number of the argument that each input is. 0, or -1 with an exception set. */
static int
places_set(CCallback *self, PyObject *places)
{
    Py_ssize_t count = PyTuple_GET_SIZE(places);
    self->places = PyMem_New(Py_ssize_t, count + 1);
    if (self->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        self->places[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(places, i));
        if (self->places[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (self->places[i] >= self->count) {
            PyErr_Format(PyExc_ValueError, "there are %zd arguments, places[%zd] is %zd", self->count, i, self->places[i]);
            return -1;
        }
    }
    return 0;
}

/* Whether the programs and the launcher fit each other; if not, an exception is set. */
static int
parts_fit(const CCallback *self, Py_ssize_t nplaces)
{
    Py_ssize_t fetched = 0;
    for (Py_ssize_t i = 0; i < nplaces; i++) {
        fetched += self->places[i] < 0;
        InputKind kind = i < self->launcher->ninputs ? self->launcher->inputs[i].kind : IN_SKIP;
        if (self->places[i] >= 0 && kind != IN_FLOAT && kind != IN_SKIP) {
            PyErr_Format(PyExc_ValueError, "input %zd of the launcher is not a float", i);
            return 0;
        }
    }
    if (guards_api->program_fetch_count(self->program) != self->launcher->ninputs || nplaces != self->launcher->ninputs
        || (self->short_program != NULL && guards_api->program_fetch_count(self->short_program) != fetched)) {
        PyErr_SetString(PyExc_ValueError, "the guard programs do not fetch the inputs of the launcher");
        return 0;
    }
    if (nplaces > CALLBACK_INPUTS || self->nroots > CALLBACK_ROOTS || self->first < 0 || self->count < 0
        || self->first + self->count > self->nroots) {
        PyErr_SetString(PyExc_ValueError, "a callback has too many variables or inputs");
        return 0;
    }
    return 1;
}

static int
programs_set(CCallback *self, PyObject *program, PyObject *short_program)
{
    if (!guards_api->is_program(program) || (short_program != Py_None && !guards_api->is_program(short_program))) {
        PyErr_SetString(PyExc_TypeError, "program and short_program must be guard programs");
        return -1;
    }
    Py_INCREF(program);
    self->program = program;
    if (short_program != Py_None) {
        Py_INCREF(short_program);
        self->short_program = short_program;
    }
    return 0;
}

static PyObject *
c_callback_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"signature", "function", "code",    "launcher", "program", "short_program", "globals",
                            "builtins",  "roots",    "unbound", "first",    "count",   "places",        NULL};
    const char *text;
    PyObject *function, *code, *launcher, *program, *short_program, *globals, *builtins, *roots, *unbound, *places;
    Py_ssize_t first, count; /* the objects above are borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "sOO!O!OOO!O!O!OnnO!:CCallback", names, &text, &function, &PyCode_Type,
                                     &code, launcher_type, &launcher, &program, &short_program, &PyDict_Type, &globals,
                                     &PyDict_Type, &builtins, &PyList_Type, &roots, &unbound, &first, &count, &PyTuple_Type,
                                     &places)) {
        return NULL;
    }
    const CSignature *signature = signature_find(text);
    if (signature == NULL) {
        return PyErr_Format(PyExc_ValueError, "unknown signature: %s", text);
    }
    if (guards_api == NULL
        && (guards_api = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION)) == NULL) {
        return NULL;
    }
    CCallback *self = (CCallback *)type->tp_alloc(type, 0); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    PyObject *given[] = {function, code, launcher, globals, builtins};
    PyObject **kept[] = {&self->function, (PyObject **)&self->code, (PyObject **)&self->launcher, &self->globals,
                         &self->builtins};
    for (int i = 0; i < 5; i++) {
        Py_INCREF(given[i]);
        *kept[i] = given[i];
    }
    self->signature = signature;
    self->first = first;
    self->count = count;
    if (programs_set(self, program, short_program) < 0 || roots_set(self, roots, unbound) < 0 || places_set(self, places) < 0
        || !parts_fit(self, PyTuple_GET_SIZE(places))) {
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static int
c_callback_traverse(CCallback *self, visitproc visit, void *arg)
{
    Py_VISIT(self->function);
    Py_VISIT(self->launcher);
    Py_VISIT(self->program);
    Py_VISIT(self->short_program);
    Py_VISIT(self->globals);
    Py_VISIT(self->builtins);
    Py_VISIT(self->error);
    for (Py_ssize_t i = 0; i < self->nroots; i++) {
        Py_VISIT(self->roots[i]);
    }
    return 0;
}

static void
c_callback_dealloc(CCallback *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->function);
    Py_XDECREF(self->code);
    Py_XDECREF(self->launcher);
    Py_XDECREF(self->program);
    Py_XDECREF(self->short_program);
    Py_XDECREF(self->globals);
    Py_XDECREF(self->builtins);
    Py_XDECREF(self->error);
    while (self->nroots > 0) {
        Py_XDECREF(self->roots[--self->nroots]);
    }
    for (int i = 0; i < CALLBACK_ARRAYS; i++) {
        Py_XDECREF(self->kept_arrays[i]);
    }
    PyMem_Free(self->roots);
    PyMem_Free(self->places);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* The destructor of a data capsule. */
static void
data_drop(PyObject *capsule)
{
    Py_XDECREF((PyObject *)PyCapsule_GetPointer(capsule, DATA_NAME));
}

static PyObject *
c_callback_capsules(CCallback *self, PyObject *Py_UNUSED(args))
{
    PyObject *function = PyCapsule_New(self->signature->function, self->signature->text, NULL); /* owned */
    PyObject *data = PyCapsule_New(self, DATA_NAME, data_drop);                                 /* owned */
    PyObject *pair = NULL;                                                                      /* new: the result */
    if (data != NULL) {
        Py_INCREF(self); /* for the capsule */
    }
    if (function != NULL && data != NULL) {
        pair = PyTuple_Pack(2, function, data);
    }
    Py_XDECREF(function);
    Py_XDECREF(data);
    return pair;
}

static PyMethodDef c_callback_methods[] = {
    {"capsules", (PyCFunction)c_callback_capsules, METH_NOARGS,
     "capsules()\n--\n\nThe C function and the data for its last argument, each in a capsule. The second one owns this object."},
    {NULL},
};

static PyMemberDef c_callback_members[] = {
    {"function", T_OBJECT_EX, offsetof(CCallback, function), READONLY, "runs the calls that the kernel does not compute"},
    {"launcher", T_OBJECT_EX, offsetof(CCallback, launcher), READONLY, "the launcher of the kernel"},
    {"calls", T_LONGLONG, offsetof(CCallback, calls), READONLY, "how often it was called"},
    {"kernel_calls", T_LONGLONG, offsetof(CCallback, kernel_calls), READONLY, "how often the kernel computed a call"},
    {NULL},
};

/* No tp_clear: no field is ever NULL for a caller. */
PyTypeObject CCallback_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._launcher.CCallback",
    .tp_basicsize = sizeof(CCallback),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "A jitted function for C libraries; see the module's type stub.",
    .tp_new = c_callback_new,
    .tp_dealloc = (destructor)c_callback_dealloc,
    .tp_traverse = (traverseproc)c_callback_traverse,
    .tp_methods = c_callback_methods,
    .tp_members = c_callback_members,
};
