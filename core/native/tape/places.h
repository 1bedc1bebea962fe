/* Places: the instructions of the program that a tape has recorded, and those that cut derivatives.
 *
 * A place is the innermost frame on the stack that runs instrumented code. Lines are looked up when they are asked for:
 * that takes longer than to record an operation. */
#ifndef PIJIT_TAPE_PLACES_H
#define PIJIT_TAPE_PLACES_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef struct {
    PyCodeObject *code; /* owned; NULL: no frame on the stack ran instrumented code */
    int offset;         /* of the instruction, for PyCode_Addr2Line */
    Py_ssize_t count;   /* the number of operations recorded here */
    int number;         /* in the order in which the places came */
    PyObject *cuts;     /* owned; a list of the names of operations with zero derivative; NULL: none */
} Place;

/* All zeros: no places. */
typedef struct {
    Place *items; /* owned; open addressing by code and offset */
    size_t mask;  /* the number of items - 1; 0: none */
    size_t used;
    size_t *order; /* owned: the indices of the items in the order in which they came */
} Places;

/* Count an operation at the current place: the number of the place, or -1 with an exception set. */
int places_count(Places *places);

/* NEW (file, line) of a place by its number, or None; NULL with an exception set. */
PyObject *places_value(const Places *places, int number);

/* Note a cut by its name at the current place: 0, or -1 with an exception set. */
int places_cut(Places *places, PyObject *name);

/* NEW dict of (file, line) to the number of operations, and NEW list of ((file, line), name). A place outside of
 * instrumented code is None. NULL with an exception set. */
PyObject *places_lines(const Places *places);
PyObject *places_cuts(const Places *places);

int places_traverse(const Places *places, visitproc visit, void *arg);
void places_release(Places *places);

/* Functions of the module: set_instrumented(code, on), is_instrumented(code), user_place(). */
PyObject *places_set_instrumented(PyObject *module, PyObject *args);
PyObject *places_is_instrumented(PyObject *module, PyObject *code);
PyObject *places_user_place(PyObject *module, PyObject *args);

#endif
