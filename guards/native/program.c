/* The type Program: construction from checked tuples, and its interface to Python. */
#include "program.h"
#include "checks/check_inl.h"
#include "numpy_ready.h"
#include <structmember.h>

const GuardOperation operation_table[OPERATION_COUNT] = {
#define OPERATION(name, reads, object) {#name, reads, object},
#include "operations.inc"
};

/* ---- construction -------------------------------------------------------------------------------------- */

static int
object_obeys(PyObject *object, ObjectRule rule)
{
    switch (rule) {
    case NO_OBJECT: return object == Py_None;
    case A_TYPE: return PyType_Check(object);
    case A_REFERENCE: return PyWeakref_CheckRefExact(object);
    case A_DTYPE: return PyArray_DescrCheck(object);
    case A_NAME: return PyUnicode_CheckExact(object);
    case A_KEY: return PyUnicode_CheckExact(object) || PyLong_CheckExact(object);
    default: return 1;
    }
}

/* Whether a step is valid. `borrowed` and `owned`: the number of filled registers of each kind; a fetch step adds
 * one. */
static int
step_is_sound(const Step *step, PyObject *object, const ProgramObject *self, Py_ssize_t *borrowed, Py_ssize_t *owned)
{
    if (step->operation < 0 || step->operation >= OPERATION_COUNT) {
        return 0;
    }
    Py_ssize_t reads[2] = {step->a, step->b};
    for (int i = 0; i < operation_table[step->operation].reads; i++) {
        Py_ssize_t end = reads[i] < self->nborrowed ? *borrowed : self->nborrowed + *owned;
        if (reads[i] < 0 || reads[i] >= end) {
            return 0;
        }
    }
    if (step->operation <= LAST_FETCH) {
        int borrows = step->operation <= LAST_BORROWED;
        Py_ssize_t next = borrows ? (*borrowed)++ : self->nborrowed + (*owned)++;
        if (step->out != next || step->out >= (borrows ? self->nborrowed : self->nregisters)) {
            return 0;
        }
    }
    int needs_index = step->operation != FETCH_ITEM && step->operation != CHECK_ITEM_ABSENT;
    return step->guard >= -1 && step->guard < PyTuple_GET_SIZE(self->guards) && (!needs_index || step->number >= 0)
           && object_obeys(object, operation_table[step->operation].object);
}

static int
steps_fill(ProgramObject *self, PyObject *rows)
{
    Py_ssize_t borrowed = 0, owned = 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rows); i++) {
        Step *step = &self->steps[i];
        PyObject *row = PyTuple_GET_ITEM(rows, i); /* borrowed */
        PyObject *object;                          /* borrowed */
        if (!PyTuple_Check(row)) {
            PyErr_SetString(PyExc_TypeError, "a step is a tuple");
            return -1;
        }
        if (!PyArg_ParseTuple(row, "innnnnOii", &step->operation, &step->guard, &step->out, &step->a, &step->b, &step->number,
                              &object, &step->mask, &step->flags)) {
            return -1;
        }
        if (!step_is_sound(step, object, self, &borrowed, &owned)) {
            PyErr_Format(PyExc_ValueError, "step %zd of the guard program is malformed: %R", i, row);
            return -1;
        }
        if (operation_table[step->operation].object != NO_OBJECT) {
            Py_INCREF(object);
            step->object = object;
        }
        int operation = step->operation;
        self->scoped |= operation == FETCH_GLOBAL || operation == FETCH_SCOPE || operation == CHECK_GLOBAL_ABSENT;
        self->nsteps = i + 1;
    }
    if (borrowed != self->nborrowed || self->nborrowed + owned != self->nregisters) {
        PyErr_SetString(PyExc_ValueError, "the steps of the guard program leave registers unfilled");
        return -1;
    }
    return 0;
}

static int
results_fill(ProgramObject *self, PyObject *registers)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(registers); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(registers, i));
        if (number == -1 && PyErr_Occurred()) {
            return -1;
        }
        if (number < 0 || number >= self->nregisters) {
            PyErr_Format(PyExc_ValueError, "fetch source %zd names register %zd, which no step fills", i, number);
            return -1;
        }
        self->results[i] = number;
        self->nresults = i + 1;
    }
    return 0;
}

static PyObject *
program_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"guards", "fetch", "steps", "results", "borrowed", "registers", NULL};
    PyObject *guards, *fetch, *steps, *results; /* borrowed */
    Py_ssize_t nborrowed, nregisters;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!O!O!nn:Program", names, &PyTuple_Type, &guards, &PyTuple_Type, &fetch,
                                     &PyTuple_Type, &steps, &PyTuple_Type, &results, &nborrowed, &nregisters)) {
        return NULL;
    }
    if (PyTuple_GET_SIZE(results) != PyTuple_GET_SIZE(fetch)) {
        PyErr_SetString(PyExc_ValueError, "fetch and results differ in length");
        return NULL;
    }
    if (PyTuple_GET_SIZE(steps) > 0 && numpy_ready() < 0) {
        return NULL;
    }
    ProgramObject *self = (ProgramObject *)type->tp_alloc(type, 0); /* owned, zeroed */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(guards);
    self->guards = guards;
    Py_INCREF(fetch);
    self->fetch = fetch;
    self->nborrowed = nborrowed;
    self->nregisters = nregisters;
    self->last_failed = -1;
    self->steps = PyMem_Calloc((size_t)PyTuple_GET_SIZE(steps) + 1, sizeof(Step));
    self->results = PyMem_Calloc((size_t)PyTuple_GET_SIZE(results) + 1, sizeof(Py_ssize_t));
    self->failures = PyMem_Calloc((size_t)PyTuple_GET_SIZE(guards) + 1, sizeof(Count));
    if (self->steps == NULL || self->results == NULL || self->failures == NULL) {
        PyErr_NoMemory();
        goto error;
    }
    if (steps_fill(self, steps) < 0 || results_fill(self, results) < 0 || local_checks_make(self) < 0) {
        goto error;
    }
    return (PyObject *)self;
error:
    Py_DECREF(self);
    return NULL;
}

static int
program_traverse(ProgramObject *self, visitproc visit, void *arg)
{
    Py_VISIT(self->guards);
    Py_VISIT(self->fetch);
    for (Py_ssize_t i = 0; i < self->nsteps; i++) {
        Py_VISIT(self->steps[i].object);
    }
    return 0;
}

static void
program_dealloc(ProgramObject *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->guards);
    Py_XDECREF(self->fetch);
    for (Py_ssize_t i = 0; i < self->nsteps; i++) {
        Py_XDECREF(self->steps[i].object);
    }
    PyMem_Free(self->steps);
    PyMem_Free(self->results);
    PyMem_Free(self->failures);
    local_checks_free(self->local_checks);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

int
program_is_dead(const ProgramObject *self)
{
    if (self->retired) {
        return 1;
    }
    for (Py_ssize_t i = 0; i < self->nsteps; i++) {
        const Step *step = &self->steps[i];
        if (operation_table[step->operation].object != A_REFERENCE) {
            continue;
        }
        PyObject *value = referent(step->object); /* owned */
        Py_XDECREF(value);
        if (value == NULL) {
            return 1;
        }
    }
    return 0;
}

int
program_has_code(const ProgramObject *self, int (*ask)(PyCodeObject *code))
{
    int found = 0;
    for (Py_ssize_t i = 0; i < self->nsteps && !found; i++) {
        PyObject *code = self->steps[i].operation == CHECK_CODE ? referent(self->steps[i].object) : NULL; /* owned */
        found = code != NULL && PyCode_Check(code) && ask((PyCodeObject *)code);
        Py_XDECREF(code);
    }
    return found;
}

/* ---- interface to Python ------------------------------------------------------------------------------- */

static PyObject *
program_check(ProgramObject *self, PyObject *args)
{
    Roots roots;
    PyObject *holder = roots_parse(args, &roots); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    PyObject *result = NULL; /* owned */
    /* items owned after a pass */
    PyObject **fetched = PyMem_Calloc((size_t)self->nresults + 1, sizeof(PyObject *));
    if (fetched == NULL) {
        PyErr_NoMemory();
        goto error;
    }
    int passed = program_evaluate(self, &roots, fetched);
    if (passed == 0) {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    else if (passed > 0) {
        result = objects_as_list(fetched, self->nresults);
        for (Py_ssize_t i = 0; i < self->nresults; i++) {
            Py_DECREF(fetched[i]);
        }
    }
error:
    PyMem_Free(fetched);
    roots_release(&roots, holder);
    return result;
}

static PyObject *
program_failures_get(ProgramObject *self, void *unused)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->guards);
    PyObject *list = PyList_New(count); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(self->failures[i]); /* owned, given to the list */
        if (number == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, number);
    }
    return list;
}

static PyObject *
program_last_failed_get(ProgramObject *self, void *unused)
{
    PyObject *guard = self->last_failed < 0 ? Py_None : PyTuple_GET_ITEM(self->guards, self->last_failed); /* borrowed */
    Py_INCREF(guard);
    return guard;
}

static PyObject *
program_dead_get(ProgramObject *self, void *unused)
{
    return PyBool_FromLong(program_is_dead(self));
}

static PyObject *
program_retire(ProgramObject *self, PyObject *unused)
{
    self->retired = 1;
    Py_RETURN_NONE;
}

static PyMethodDef program_methods[] = {
    {"retire", (PyCFunction)program_retire, METH_NOARGS, "retire() -> None: never hold again."},
    {"check", (PyCFunction)program_check, METH_VARARGS,
     "check(values, globals, builtins) -> list of fetched objects if all guards hold, else None."},
    {NULL},
};

static PyMemberDef program_members[] = {
    {"guards", T_OBJECT_EX, offsetof(ProgramObject, guards), READONLY, "The guards, in the given order."},
    {"fetch", T_OBJECT_EX, offsetof(ProgramObject, fetch), READONLY, "The sources fetched for the caller."},
    {"hits", T_ULONGLONG, offsetof(ProgramObject, hits), READONLY, "Evaluations in which all guards held."},
    {"misses", T_ULONGLONG, offsetof(ProgramObject, misses), READONLY, "Evaluations in which a guard failed."},
    {"retired", T_BOOL, offsetof(ProgramObject, retired), READONLY, "Whether retire() was called."},
    {NULL},
};

static PyGetSetDef program_getset[] = {
    {"failures", (getter)program_failures_get, NULL, "How often each guard failed, in the order of guards.", NULL},
    {"last_failed", (getter)program_last_failed_get, NULL,
     "The guard that failed last; None if none did, or if it was a fetch source that was absent.", NULL},
    {"dead", (getter)program_dead_get, NULL, "Whether a guarded object is gone: the guards never hold again.", NULL},
    {NULL},
};

PyTypeObject ProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.guards._evaluate.Program",
    .tp_doc = "Program(guards, fetch, steps, results, borrowed, registers): what GuardProgram compiles to.",
    .tp_basicsize = sizeof(ProgramObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = program_new,
    .tp_dealloc = (destructor)program_dealloc,
    .tp_traverse = (traverseproc)program_traverse,
    .tp_methods = program_methods,
    .tp_members = program_members,
    .tp_getset = program_getset,
};
