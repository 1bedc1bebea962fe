/* Records of a tape. The backward sweep runs one for each operation, in reverse order. */
#ifndef PIJIT_TAPE_RECORDS_H
#define PIJIT_TAPE_RECORDS_H

#include "numpy_api.h"
#include "tape/rule.h"

typedef enum {
    RECORD_CALLABLE, /* call `act` with the sweep's run */
    RECORD_VALUE,    /* if `result` has an adjoint, call `act` with (run, adjoint, result) */
    RECORD_RULE,     /* the same with a Rule and its operands */
    RECORD_COPY,     /* `result` is a copy of the operand */
    RECORD_STORE,    /* the operand was stored into the array `result`, which had the values `old` */
    RECORD_UPDATE    /* an operation with a Rule was stored into the array `result` */
} RecordKind;

typedef struct {
    RecordKind kind;
    unsigned char marks;               /* bit i: operand i is active */
    int place;                         /* the number of the place, see places.h */
    PyObject *result;                  /* owned; arrays as views of their own */
    PyObject *act;                     /* owned; a callable or a Rule; NULL for copies and stores */
    PyObject *old;                     /* owned; an array; NULL for other kinds than stores */
    PyObject *names;                   /* owned; a tuple of the names of the last operands; NULL: none */
    PyObject *operands[MOST_OPERANDS]; /* owned; arrays as views of their own; NULL after the last one */
} Record;

/* All zeros: no records. */
typedef struct {
    Record *items; /* owned */
    Py_ssize_t count, room;
} Records;

/* Append a record, whose references are taken over in any case: 0, or -1 with an exception set. */
int records_append(PyObject *tape, Record record);

/* A value that the program cannot change the shape of: arrays as a view of their own. NEW reference. */
PyObject *record_frozen(PyObject *x);

int records_traverse(const Records *records, visitproc visit, void *arg);
void records_release(Records *records);

/* Methods of Tape: record(callable); record_value(result, give); run_back(run, keep). */
PyObject *record_callable(PyObject *tape, PyObject *act);
PyObject *record_value(PyObject *tape, PyObject *args);
PyObject *records_run_back(PyObject *tape, PyObject *args);

#endif
