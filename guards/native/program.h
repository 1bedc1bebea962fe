/* Guard programs: the type Program, its construction from checked tuples, and one evaluation (walk_inl.h).
 *
 * Part of evaluate.c. A program is a list of steps over registers. A fetch step reads a root or a register and fills
 * the next register. A check step tests one or two registers. Borrowed registers come first (locals and constants,
 * alive as long as the caller's array and the program). Owned registers follow and are filled in ascending order, so
 * one loop releases them after a failure in the middle. Python (guards/program.py) orders the steps. program_new
 * checks that no step reads a register before it is filled or gives a check an object of the wrong kind. So no tuple
 * from Python can make an evaluation crash.
 *
 * Types, functions, code and other objects that are compared by identity are held weakly if possible
 * (guards/held.py). A program is dead, and never holds again, once one of them is gone. It is also dead once it was
 * retired, because its payload no longer fits.
 *
 * A Program has all its references from construction on and never changes them. A reference cycle through it also
 * contains an object that was changed later and that can be cleared. So, like a tuple, it has no tp_clear: all guards
 * of a cleared program would hold. */
#ifndef PIJIT_GUARDS_PROGRAM_H
#define PIJIT_GUARDS_PROGRAM_H

#include "check_inl.h"
#include "fetch_inl.h"
#include <structmember.h>

enum {
    FETCH_LOCAL,
    FETCH_CONSTANT,
    LAST_BORROWED = FETCH_CONSTANT,
    FETCH_CELL,
    FETCH_GLOBAL,
    FETCH_SCOPE,
    FETCH_ATTR,
    FETCH_ITEM,
    FETCH_KEY,
    FETCH_TYPE,
    FETCH_CLASS_ATTR,
    FETCH_INNER,
    LAST_FETCH = FETCH_INNER,
    CHECK_TYPE,
    CHECK_WEAK_TYPE,
    CHECK_ARRAY,
    CHECK_IDENTICAL,
    CHECK_WEAK_IDENTICAL,
    CHECK_EQUAL,
    CHECK_INT64,
    CHECK_LENGTH,
    CHECK_OWN_COUNT,
    CHECK_CODE,
    CHECK_LOCAL_UNBOUND,
    CHECK_CELL_EMPTY,
    CHECK_GLOBAL_ABSENT,
    CHECK_ATTR_ABSENT,
    CHECK_ITEM_ABSENT,
    CHECK_APART,
    CHECK_SHAPES,
    CHECK_AXIS,
    CHECK_SAME_AXIS,
    CHECK_SAME,
    CHECK_DISTINCT,
    OPERATION_COUNT
};

typedef enum { NO_OBJECT, ANY_OBJECT, A_TYPE, A_REFERENCE, A_DTYPE, A_NAME, A_KEY } ObjectRule;

/* For each operation: its name for Python, the number of registers that it reads, and the rule for its object. */
static const struct {
    const char *name;
    int reads;
    ObjectRule object;
} operation_table[OPERATION_COUNT] = {
    [FETCH_LOCAL] = {"FETCH_LOCAL", 0, NO_OBJECT},
    [FETCH_CONSTANT] = {"FETCH_CONSTANT", 0, ANY_OBJECT},
    [FETCH_CELL] = {"FETCH_CELL", 0, NO_OBJECT},
    [FETCH_GLOBAL] = {"FETCH_GLOBAL", 0, A_NAME},
    [FETCH_SCOPE] = {"FETCH_SCOPE", 0, NO_OBJECT},
    [FETCH_ATTR] = {"FETCH_ATTR", 1, A_NAME},
    [FETCH_ITEM] = {"FETCH_ITEM", 1, A_KEY},
    [FETCH_KEY] = {"FETCH_KEY", 1, NO_OBJECT},
    [FETCH_TYPE] = {"FETCH_TYPE", 1, NO_OBJECT},
    [FETCH_CLASS_ATTR] = {"FETCH_CLASS_ATTR", 1, A_NAME},
    [FETCH_INNER] = {"FETCH_INNER", 1, NO_OBJECT},
    [CHECK_TYPE] = {"CHECK_TYPE", 1, A_TYPE},
    [CHECK_WEAK_TYPE] = {"CHECK_WEAK_TYPE", 1, A_REFERENCE},
    [CHECK_ARRAY] = {"CHECK_ARRAY", 1, A_DTYPE},
    [CHECK_IDENTICAL] = {"CHECK_IDENTICAL", 1, ANY_OBJECT},
    [CHECK_WEAK_IDENTICAL] = {"CHECK_WEAK_IDENTICAL", 1, A_REFERENCE},
    [CHECK_EQUAL] = {"CHECK_EQUAL", 1, ANY_OBJECT},
    [CHECK_INT64] = {"CHECK_INT64", 1, NO_OBJECT},
    [CHECK_LENGTH] = {"CHECK_LENGTH", 1, NO_OBJECT},
    [CHECK_OWN_COUNT] = {"CHECK_OWN_COUNT", 1, NO_OBJECT},
    [CHECK_CODE] = {"CHECK_CODE", 1, A_REFERENCE},
    [CHECK_LOCAL_UNBOUND] = {"CHECK_LOCAL_UNBOUND", 0, NO_OBJECT},
    [CHECK_CELL_EMPTY] = {"CHECK_CELL_EMPTY", 0, NO_OBJECT},
    [CHECK_GLOBAL_ABSENT] = {"CHECK_GLOBAL_ABSENT", 0, A_NAME},
    [CHECK_ATTR_ABSENT] = {"CHECK_ATTR_ABSENT", 1, A_NAME},
    [CHECK_ITEM_ABSENT] = {"CHECK_ITEM_ABSENT", 1, A_KEY},
    [CHECK_APART] = {"CHECK_APART", 2, NO_OBJECT},
    [CHECK_SHAPES] = {"CHECK_SHAPES", 2, NO_OBJECT},
    [CHECK_AXIS] = {"CHECK_AXIS", 1, ANY_OBJECT},
    [CHECK_SAME_AXIS] = {"CHECK_SAME_AXIS", 2, NO_OBJECT},
    [CHECK_SAME] = {"CHECK_SAME", 2, NO_OBJECT},
    [CHECK_DISTINCT] = {"CHECK_DISTINCT", 2, NO_OBJECT},
};

typedef struct {
    int operation;
    int mask, flags;   /* CHECK_ARRAY: (array flags & mask) == flags; CHECK_SAME_AXIS: mask is the second axis */
    Py_ssize_t guard;  /* index of the guard it serves, -1 for a fetch that serves only the caller */
    Py_ssize_t out;    /* register that a fetch fills */
    Py_ssize_t a, b;   /* registers that it reads */
    Py_ssize_t number; /* root index, position, length, axis or ndim */
    PyObject *object;  /* owned: name, key, type, dtype, constant or weak reference; NULL if it has none */
} Step;

typedef unsigned long long Count;

typedef struct {
    PyObject_HEAD
    PyObject *guards; /* owned: tuple of Guard, in the given order */
    PyObject *fetch;  /* owned: tuple of Source */
    Step *steps;      /* owned, with the objects in it */
    Py_ssize_t nsteps;
    Py_ssize_t *results; /* owned: the register of each fetch source */
    Py_ssize_t nresults;
    Py_ssize_t nborrowed, nregisters;
    Count *failures;        /* owned: per guard */
    Py_ssize_t last_failed; /* index of the guard that failed last, or -1 */
    Count hits, misses;
    char retired; /* whether retire() was called */
} ProgramObject;

static PyTypeObject ProgramType;

/* Whether evaluations are compared with the Python twin. */
static int mirror_enabled = 0;

#define REGISTERS_ON_STACK 64

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
    if (steps_fill(self, steps) < 0 || results_fill(self, results) < 0) {
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
    Py_TYPE(self)->tp_free((PyObject *)self);
}

/* Whether the guards never hold again: retire() was called, or an object that a guard compares with is gone. */
static int
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

#include "walk_inl.h"

#endif
