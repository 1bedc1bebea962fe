/* Tape: active values with their adjoints, and the records of a gradient call. The base of Tape in core/tape/tape.py. */
#ifndef PIJIT_TAPE_TAPE_H
#define PIJIT_TAPE_TAPE_H

#include "numpy_api.h"
#include "tape/memory.h"
#include "tape/places.h"
#include "tape/pointer_map.h"
#include "tape/records.h"

/* An active number. The object is held so that its address is not used again. */
typedef struct {
    PyObject *value;   /* owned */
    PyObject *adjoint; /* owned; NULL: nothing was added to it */
} Number;

typedef struct {
    PyObject_HEAD
    PointerMap number_at; /* the index in `numbers` of an active number */
    Number *numbers;      /* owned */
    Py_ssize_t nnumbers, numbers_room;
    PointerMap memory_at; /* the index in `memories` of an owner of memory */
    Memory **memories;    /* owned; the items are owned */
    Py_ssize_t nmemories, memories_room;
    Records records;
    Places places;
    Py_ssize_t held;    /* bytes of arrays that the tape holds */
    Py_ssize_t allowed; /* with more bytes the method over_budget is called */
    char integers;      /* whether integers are differentiated, too */
} Tape;

extern PyTypeObject Tape_Type;

/* Whether a value can carry an adjoint: a number or an array of a differentiable kind. */
int tape_carries(const Tape *self, PyObject *x);

/* Whether a number or an array depends on an active argument: 1, 0, or -1 with an exception set. */
int tape_active(Tape *self, PyObject *x);

/* Make a number or an array active if it can carry an adjoint: 0, or -1 with an exception set. */
int tape_start(Tape *self, PyObject *x);

/* The record of the memory of an array, borrowed from the tape; it is made if there is none. NULL with an exception set. */
Memory *tape_memory(Tape *self, PyArrayObject *x);

/* The record of an active number, borrowed until the next number becomes active; NULL: not active. */
Number *tape_number(const Tape *self, PyObject *x);

/* The adjoint of a value: NEW reference, an array to write to for arrays; None if there is none. */
PyObject *tape_adjoint(Tape *self, PyObject *x);

/* A value at the point that the sweep has reached; lists and tuples are rebuilt. NEW reference. */
PyObject *tape_value(const Tape *self, PyObject *x);

/* Count bytes of arrays that the tape holds: 0, or -1 with an exception set if they are too many. */
int tape_hold(Tape *self, Py_ssize_t bytes);

#endif
