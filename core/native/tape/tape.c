#include "tape/tape.h"
#include "tape/adjoints.h"
#include "tape/pointer_map_inl.h"
#include <structmember.h>

/* ---- Active values ---------------------------------------------------------------------------------------- */

int
tape_carries(const Tape *self, PyObject *x)
{
    if (PyFloat_CheckExact(x)) {
        return 1;
    }
    if (PyArray_Check(x)) {
        char kind = PyArray_DESCR((PyArrayObject *)x)->kind;
        return kind == 'f' || kind == 'c' || (self->integers && (kind == 'i' || kind == 'u'));
    }
    return PyFloat_Check(x) || PyComplex_Check(x) || PyArray_IsScalar(x, Floating) || PyArray_IsScalar(x, ComplexFloating)
           || (self->integers && PyArray_IsScalar(x, Integer));
}

Number *
tape_number(const Tape *self, PyObject *x)
{
    Py_ssize_t at = pointer_map_get(&self->number_at, x);
    return at >= 0 ? &self->numbers[at] : NULL;
}

/* The record of the memory of an array, borrowed from the tape. NULL if there is none, or with an exception set. */
static Memory *
memory_known(const Tape *self, PyArrayObject *x)
{
    PyArrayObject *owner = owner_of(x);
    Py_ssize_t at = owner != NULL ? pointer_map_get(&self->memory_at, owner) : -1;
    return at >= 0 ? self->memories[at] : NULL;
}

/* Append to an array that grows by doubling. */
static void *
room_for(void *items, Py_ssize_t count, Py_ssize_t *room, size_t size)
{
    if (count < *room) {
        return items;
    }
    Py_ssize_t wanted = *room != 0 ? *room * 2 : 16;
    void *grown = PyMem_Realloc(items, (size_t)wanted * size);
    if (grown == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *room = wanted;
    return grown;
}

/* Add the memory of an owner, borrowed from the tape; NULL with an exception set. */
static Memory *
memory_add(Tape *self, PyArrayObject *owner)
{
    void *items = room_for(self->memories, self->nmemories, &self->memories_room, sizeof(Memory *));
    if (items == NULL) {
        return NULL;
    }
    self->memories = items;
    Memory *memory = memory_new(owner); /* owned, then the tape's */
    if (memory == NULL || pointer_map_set(&self->memory_at, owner, self->nmemories) < 0) {
        Py_XDECREF(memory);
        return NULL;
    }
    self->memories[self->nmemories++] = memory;
    return memory;
}

Memory *
tape_memory(Tape *self, PyArrayObject *x)
{
    PyArrayObject *owner = owner_of(x);
    Py_ssize_t at = owner != NULL ? pointer_map_get(&self->memory_at, owner) : -1;
    if (at >= 0 || owner == NULL) {
        return at >= 0 ? self->memories[at] : NULL;
    }
    Memory *memory = memory_add(self, owner);
    if (memory == NULL || tape_hold(self, PyArray_NBYTES(owner)) < 0) {
        return NULL;
    }
    if (PyArray_BASE(owner) != NULL || !PyArray_CHKFLAGS(owner, NPY_ARRAY_OWNDATA)) {
        PyObject *done = PyObject_CallMethod((PyObject *)self, "check_only_owner", "O", (PyObject *)memory); /* owned */
        Py_XDECREF(done);
        return done != NULL ? memory : NULL;
    }
    return memory;
}

int
tape_active(Tape *self, PyObject *x)
{
    if (!PyArray_Check(x)) {
        return pointer_map_get(&self->number_at, x) >= 0;
    }
    const Memory *memory = memory_known(self, (PyArrayObject *)x);
    return memory != NULL ? memory->active && tape_carries(self, x) : PyErr_Occurred() ? -1 : 0;
}

/* Make a number active: 0, or -1 with an exception set. */
static int
number_start(Tape *self, PyObject *x)
{
    if (pointer_map_get(&self->number_at, x) >= 0) {
        return 0;
    }
    void *items = room_for(self->numbers, self->nnumbers, &self->numbers_room, sizeof(Number));
    if (items == NULL) {
        return -1;
    }
    self->numbers = items;
    if (pointer_map_set(&self->number_at, x, self->nnumbers) < 0) {
        return -1;
    }
    Py_INCREF(x);
    self->numbers[self->nnumbers++] = (Number){x, NULL};
    return 0;
}

int
tape_start(Tape *self, PyObject *x)
{
    if (!tape_carries(self, x)) {
        return 0;
    }
    if (!PyArray_Check(x)) {
        return number_start(self, x);
    }
    Memory *memory = tape_memory(self, (PyArrayObject *)x);
    if (memory != NULL) {
        memory->active = 1;
    }
    return memory != NULL ? 0 : -1;
}

int
tape_hold(Tape *self, Py_ssize_t bytes)
{
    self->held += bytes;
    if (self->held <= self->allowed) {
        return 0;
    }
    PyObject *allowed = PyObject_CallMethod((PyObject *)self, "over_budget", "n", self->held); /* owned */
    if (allowed == NULL) {
        return -1;
    }
    self->allowed = PyLong_AsSsize_t(allowed);
    Py_DECREF(allowed);
    return PyErr_Occurred() ? -1 : 0;
}

/* ---- The point that the sweep has reached ----------------------------------------------------------------- */

PyObject *
tape_adjoint(Tape *self, PyObject *x)
{
    PyObject *adjoint = Py_None; /* borrowed */
    if (PyArray_Check(x)) {
        Memory *memory = memory_known(self, (PyArrayObject *)x);
        if (memory != NULL && memory->active && memory->shadow != NULL) {
            return memory_shadow(memory, (PyArrayObject *)x);
        }
        if (memory == NULL && PyErr_Occurred()) {
            return NULL;
        }
    }
    else {
        const Number *number = tape_number(self, x);
        adjoint = number != NULL && number->adjoint != NULL ? number->adjoint : Py_None;
    }
    Py_INCREF(adjoint);
    return adjoint;
}

PyObject *
tape_value(const Tape *self, PyObject *x)
{
    if (PyArray_Check(x)) {
        const Memory *memory = memory_known(self, (PyArrayObject *)x);
        if (memory != NULL) {
            return memory_value(memory, (PyArrayObject *)x);
        }
        if (PyErr_Occurred()) {
            return NULL;
        }
    }
    else if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {
        PyObject *items = PyList_New(0); /* owned, given away */
        for (Py_ssize_t i = 0; items != NULL && i < PySequence_Fast_GET_SIZE(x); i++) {
            PyObject *item = tape_value(self, PySequence_Fast_GET_ITEM(x, i)); /* owned */
            if (item == NULL || PyList_Append(items, item) < 0) {
                Py_CLEAR(items);
            }
            Py_XDECREF(item);
        }
        if (items != NULL && PyTuple_CheckExact(x)) {
            Py_SETREF(items, PyList_AsTuple(items));
        }
        return items;
    }
    Py_INCREF(x);
    return x;
}

/* ---- Methods ---------------------------------------------------------------------------------------------- */

static PyObject *
method_carries(Tape *self, PyObject *x)
{
    return PyBool_FromLong(tape_carries(self, x));
}

static PyObject *
method_active(Tape *self, PyObject *x)
{
    int active = tape_active(self, x);
    return active < 0 ? NULL : PyBool_FromLong(active);
}

static PyObject *
method_start(Tape *self, PyObject *x)
{
    if (tape_start(self, x) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
method_memory(Tape *self, PyObject *x)
{
    if (!PyArray_Check(x)) {
        return PyErr_Format(PyExc_TypeError, "memory: x must be an array, not %.200s", Py_TYPE(x)->tp_name);
    }
    PyObject *memory = (PyObject *)tape_memory(self, (PyArrayObject *)x); /* borrowed */
    Py_XINCREF(memory);
    return memory;
}

static PyObject *
method_shadow(Tape *self, PyObject *x)
{
    if (!PyArray_Check(x)) {
        return PyErr_Format(PyExc_TypeError, "shadow: x must be an array, not %.200s", Py_TYPE(x)->tp_name);
    }
    Memory *memory = tape_memory(self, (PyArrayObject *)x);
    return memory != NULL ? memory_shadow(memory, (PyArrayObject *)x) : NULL;
}

static PyObject *
method_adjoint(Tape *self, PyObject *x)
{
    return tape_adjoint(self, x);
}

static PyObject *
method_value(Tape *self, PyObject *x)
{
    return tape_value(self, x);
}

static PyObject *
method_set_adjoint(Tape *self, PyObject *args)
{
    PyObject *x, *g; /* borrowed */
    if (!PyArg_ParseTuple(args, "OO:set_adjoint", &x, &g)) {
        return NULL;
    }
    Number *number = tape_number(self, x);
    if (number == NULL) {
        PyErr_SetString(PyExc_ValueError, "set_adjoint: x is not an active number");
        return NULL;
    }
    PyObject *before = number->adjoint; /* owned */
    Py_INCREF(g);
    number->adjoint = g;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyObject *
method_give(Tape *self, PyObject *args)
{
    PyObject *run, *x, *g; /* borrowed */
    if (!PyArg_ParseTuple(args, "OOO:give", &run, &x, &g) || adjoint_give(self, run, x, g) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
method_hold(Tape *self, PyObject *size)
{
    Py_ssize_t bytes = PyLong_AsSsize_t(size);
    if ((bytes == -1 && PyErr_Occurred()) || tape_hold(self, bytes) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
method_cut(Tape *self, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        return PyErr_Format(PyExc_TypeError, "cut: name must be a str, not %.200s", Py_TYPE(name)->tp_name);
    }
    if (places_cut(&self->places, name) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
method_forget(Tape *self, PyObject *Py_UNUSED(args))
{
    for (Py_ssize_t i = 0; i < self->nmemories; i++) {
        memory_forget(self->memories[i]);
    }
    for (Py_ssize_t i = 0; i < self->nnumbers; i++) {
        Py_CLEAR(self->numbers[i].adjoint);
    }
    Py_RETURN_NONE;
}

static PyObject *
method_memories(Tape *self, PyObject *Py_UNUSED(args))
{
    PyObject *memories = PyList_New(self->nmemories); /* owned, given away */
    for (Py_ssize_t i = 0; memories != NULL && i < self->nmemories; i++) {
        Py_INCREF(self->memories[i]);
        PyList_SET_ITEM(memories, i, (PyObject *)self->memories[i]);
    }
    return memories;
}

static PyObject *
lines_get(Tape *self, void *Py_UNUSED(closure))
{
    return places_lines(&self->places);
}

static PyObject *
cuts_get(Tape *self, void *Py_UNUSED(closure))
{
    return places_cuts(&self->places);
}

/* ---- The type --------------------------------------------------------------------------------------------- */

static PyObject *
tape_new(PyTypeObject *type, PyObject *Py_UNUSED(args), PyObject *Py_UNUSED(kwargs))
{
    return type->tp_alloc(type, 0);
}

static int
tape_traverse(Tape *self, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < self->nnumbers; i++) {
        Py_VISIT(self->numbers[i].value);
        Py_VISIT(self->numbers[i].adjoint);
    }
    int found = records_traverse(&self->records, visit, arg);
    return found != 0 ? found : places_traverse(&self->places, visit, arg);
}

static int
tape_clear(Tape *self)
{
    Tape old = *self; /* moved: finalizers may look at the tape */
    memset(&self->number_at, 0, sizeof(PointerMap));
    memset(&self->memory_at, 0, sizeof(PointerMap));
    self->numbers = NULL;
    self->memories = NULL;
    self->nnumbers = self->numbers_room = self->nmemories = self->memories_room = 0;
    records_release(&self->records);
    places_release(&self->places);
    for (Py_ssize_t i = 0; i < old.nnumbers; i++) {
        Py_DECREF(old.numbers[i].value);
        Py_XDECREF(old.numbers[i].adjoint);
    }
    for (Py_ssize_t i = 0; i < old.nmemories; i++) {
        Py_DECREF(old.memories[i]);
    }
    pointer_map_release(&old.number_at);
    pointer_map_release(&old.memory_at);
    PyMem_Free(old.numbers);
    PyMem_Free(old.memories);
    return 0;
}

static void
tape_dealloc(Tape *self)
{
    PyObject_GC_UnTrack(self);
    tape_clear(self);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef tape_members[] = {
    {"held", T_PYSSIZET, offsetof(Tape, held), READONLY, "Bytes of arrays that the tape holds."},
    {"allowed", T_PYSSIZET, offsetof(Tape, allowed), 0, "With more bytes, over_budget is called."},
    {"integers", T_BOOL, offsetof(Tape, integers), 0, "Whether integers are differentiated, too."},
    {NULL},
};

static PyGetSetDef tape_getset[] = {
    {"lines", (getter)lines_get, NULL, "(file, line) to the number of operations recorded there.", NULL},
    {"cuts", (getter)cuts_get, NULL, "((file, line), name) of operations whose derivative is zero.", NULL},
    {NULL},
};

static PyMethodDef tape_methods[] = {
    {"carries", (PyCFunction)method_carries, METH_O, NULL},
    {"active", (PyCFunction)method_active, METH_O, NULL},
    {"start_one", (PyCFunction)method_start, METH_O, NULL},
    {"memory", (PyCFunction)method_memory, METH_O, NULL},
    {"shadow", (PyCFunction)method_shadow, METH_O, NULL},
    {"adjoint", (PyCFunction)method_adjoint, METH_O, NULL},
    {"set_adjoint", (PyCFunction)method_set_adjoint, METH_VARARGS, NULL},
    {"value", (PyCFunction)method_value, METH_O, NULL},
    {"give", (PyCFunction)method_give, METH_VARARGS, NULL},
    {"hold", (PyCFunction)method_hold, METH_O, NULL},
    {"cut", (PyCFunction)method_cut, METH_O, NULL},
    {"forget_adjoints", (PyCFunction)method_forget, METH_NOARGS, NULL},
    {"memories", (PyCFunction)method_memories, METH_NOARGS, NULL},
    {"record", (PyCFunction)record_callable, METH_O, NULL},
    {"record_value", (PyCFunction)record_value, METH_VARARGS, NULL},
    {"run_back", (PyCFunction)records_run_back, METH_VARARGS, NULL},
    {NULL},
};

PyTypeObject Tape_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Tape",
    .tp_basicsize = sizeof(Tape),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "Active values with their adjoints, and the records of a gradient call.",
    .tp_new = tape_new,
    .tp_dealloc = (destructor)tape_dealloc,
    .tp_traverse = (traverseproc)tape_traverse,
    .tp_clear = (inquiry)tape_clear,
    .tp_members = tape_members,
    .tp_getset = tape_getset,
    .tp_methods = tape_methods,
};
