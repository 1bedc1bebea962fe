/* The records of a tape and the backward sweep.
 *
 * Under plain_run the sweep does in C what core/tape/records.py does for all kinds of values and for enclosing tapes. */
#include "tape/records.h"
#include "cpython/vectorcall/vectorcall_inl.h"
#include "tape/adjoints.h"
#include "tape/run.h"
#include "tape/tape.h"
#include "tape/values_inl.h"

/* The number of operands. */
static int
record_size(const Record *record)
{
    int count = 0;
    while (count < MOST_OPERANDS && record->operands[count] != NULL) {
        count++;
    }
    return count;
}

static void
record_release(Record *record)
{
    Py_XDECREF(record->result);
    Py_XDECREF(record->act);
    Py_XDECREF(record->old);
    Py_XDECREF(record->names);
    for (int i = 0; i < MOST_OPERANDS; i++) {
        Py_XDECREF(record->operands[i]);
    }
}

int
records_append(PyObject *tape, Record record)
{
    Records *records = &((Tape *)tape)->records;
    record.place = places_count(&((Tape *)tape)->places);
    if (record.place < 0) {
        record_release(&record);
        return -1;
    }
    if (records->count >= records->room) {
        Py_ssize_t room = records->room != 0 ? records->room * 2 : 64;
        Record *grown = PyMem_Realloc(records->items, (size_t)room * sizeof(Record));
        if (grown == NULL) {
            record_release(&record);
            PyErr_NoMemory();
            return -1;
        }
        records->items = grown;
        records->room = room;
    }
    records->items[records->count++] = record;
    return 0;
}

PyObject *
record_frozen(PyObject *x)
{
    if (PyArray_CheckExact(x)) {
        return PyArray_View((PyArrayObject *)x, NULL, NULL);
    }
    Py_INCREF(x);
    return x;
}

int
records_traverse(const Records *records, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < records->count; i++) {
        const Record *record = &records->items[i];
        Py_VISIT(record->result);
        Py_VISIT(record->act);
        Py_VISIT(record->old);
        Py_VISIT(record->names);
        for (int k = 0; k < MOST_OPERANDS; k++) {
            Py_VISIT(record->operands[k]);
        }
    }
    return 0;
}

void
records_release(Records *records)
{
    Records old = *records; /* moved: finalizers may look at the tape */
    memset(records, 0, sizeof(*records));
    while (old.count > 0) {
        record_release(&old.items[--old.count]);
    }
    PyMem_Free(old.items);
}

/* ---- Recording -------------------------------------------------------------------------------------------- */

PyObject *
record_callable(PyObject *tape, PyObject *act)
{
    Py_INCREF(act);
    if (records_append(tape, (Record){.kind = RECORD_CALLABLE, .act = act}) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *
record_value(PyObject *tape, PyObject *args)
{
    PyObject *result, *give; /* borrowed */
    if (!PyArg_ParseTuple(args, "OO:record_value", &result, &give) || tape_start((Tape *)tape, result) < 0) {
        return NULL;
    }
    PyObject *frozen = record_frozen(result); /* owned, then the record's */
    if (frozen == NULL) {
        return NULL;
    }
    Py_INCREF(give);
    if (records_append(tape, (Record){.kind = RECORD_VALUE, .result = frozen, .act = give}) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- Rules ------------------------------------------------------------------------------------------------ */

/* NEW tuple of the operands of a record; NULL with an exception set. */
static PyObject *
operands_tuple(const Record *record)
{
    int count = record_size(record);
    PyObject *operands = PyTuple_New(count); /* owned, given away */
    for (int i = 0; operands != NULL && i < count; i++) {
        Py_INCREF(record->operands[i]);
        PyTuple_SET_ITEM(operands, i, record->operands[i]);
    }
    return operands;
}

/* Replace an exception of a rule by the refusal of the function, which names the place of its call. */
static void
rule_refuse(Tape *tape, const Record *record)
{
    PyObject *type, *error, *traceback; /* owned */
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    PyObject *place = places_value(&tape->places, record->place); /* owned */
    PyObject *done = place == NULL ? NULL
                                   : PyObject_CallMethod((PyObject *)tape, "refuse_rule", "OOO", record->act, place,
                                                         error); /* owned; it raises, unless the error is the user's */
    Py_XDECREF(place);
    if (done != NULL) {
        Py_DECREF(done);
        PyErr_Restore(type, error, traceback);
        return;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(traceback);
}

/* Call a function of a rule: NEW reference, or NULL with an exception set. `values`: g, r and the operands. */
static PyObject *
rule_call(Tape *tape, const Record *record, PyObject *function, PyObject *const *values, int count)
{
    Py_ssize_t named = record->names != NULL ? PyTuple_GET_SIZE(record->names) : 0;
    PyObject *found = vector_call(function, values, count - named, record->names); /* owned, given away */
    if (found == NULL && ((const Rule *)record->act)->vjp != NULL) {
        rule_refuse(tape, record);
    }
    return found;
}

/* Give the contribution of one partial: 0, or -1 with an exception set. */
static int
partial_give(Tape *tape, const Record *record, int which, PyObject *const *values, int count)
{
    const Rule *rule = (const Rule *)record->act;
    PyObject *part = rule_call(tape, record, PyTuple_GET_ITEM(rule->partials, which), values, count); /* owned */
    if (part != NULL && rule->singular) {
        PyObject *zeroed = adjoint_strong_zero(values[0], part); /* owned, then the part's */
        if (zeroed == NULL) {
            zeroed = PyObject_CallMethod((PyObject *)tape, "strong_zero", "OO", values[0], part);
        }
        Py_SETREF(part, zeroed);
    }
    int done = part != NULL ? adjoint_give(tape, plain_run, record->operands[which], part) : -1;
    Py_XDECREF(part);
    return done;
}

/* Give the contributions of a rule that computes all of them at once: 0, or -1 with an exception set. */
static int
parts_give(Tape *tape, const Record *record, PyObject *const *values, int count)
{
    const Rule *rule = (const Rule *)record->act;
    PyObject *found = rule_call(tape, record, rule->vjp, values, count);                                   /* owned */
    PyObject *parts = found != NULL ? PySequence_Fast(found, "a rule returns a tuple of adjoints") : NULL; /* owned */
    int done = parts != NULL ? 0 : -1;
    for (int i = 0; done == 0 && i < rule->operands && i < PySequence_Fast_GET_SIZE(parts) && i < count - 2; i++) {
        done = adjoint_give(tape, plain_run, record->operands[i], PySequence_Fast_GET_ITEM(parts, i));
    }
    Py_XDECREF(parts);
    Py_XDECREF(found);
    return done;
}

/* Give what Python computes for a rule: for complex values, and where enclosing tapes record. */
static int
rule_give_in_python(Tape *tape, PyObject *run, const Record *record, PyObject *g, PyObject *r)
{
    PyObject *operands = operands_tuple(record);                       /* owned */
    PyObject *place = places_value(&tape->places, record->place);      /* owned */
    PyObject *names = record->names != NULL ? record->names : Py_None; /* borrowed */
    PyObject *done = operands == NULL || place == NULL
                         ? NULL
                         : PyObject_CallMethod((PyObject *)tape, "give_by_record", "OOOOIOOO", run, record->act, operands,
                                               names, (unsigned)record->marks, g, r, place); /* owned */
    Py_XDECREF(place);
    Py_XDECREF(operands);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* Whether a rule gets other values than those of the operation: the conjugates of complex ones. */
static int
conjugates(const Record *record, PyObject *r)
{
    int found = ((const Rule *)record->act)->holomorphic && is_complex(r);
    for (int i = 0; ((const Rule *)record->act)->holomorphic && i < record_size(record); i++) {
        found |= is_complex(record->operands[i]);
    }
    return found;
}

/* Give the contributions of an operation with a rule: 0, or -1 with an exception set. */
static int
rule_give(Tape *tape, PyObject *run, const Record *record, PyObject *g, PyObject *r)
{
    const Rule *rule = (const Rule *)record->act;
    PyObject *values[2 + MOST_OPERANDS] = {g, r}; /* from the third on owned */
    int count = 2, done = 0;
    if (run != plain_run || conjugates(record, r)) {
        return rule_give_in_python(tape, run, record, g, r);
    }
    while (done == 0 && count - 2 < record_size(record)) {
        values[count] = tape_value(tape, record->operands[count - 2]);
        done = values[count] != NULL ? 0 : -1;
        count += done == 0;
    }
    if (done == 0 && PyTuple_GET_SIZE(rule->partials) == 0) {
        done = parts_give(tape, record, values, count);
    }
    for (int i = 0; done == 0 && i < count - 2 && i < PyTuple_GET_SIZE(rule->partials); i++) {
        if (record->marks & (1u << i)) {
            done = partial_give(tape, record, i, values, count);
        }
    }
    while (count > 2) {
        Py_DECREF(values[--count]);
    }
    return done;
}

/* ---- The sweep -------------------------------------------------------------------------------------------- */

/* Run a record of a value: 0, or -1 with an exception set. */
static int
value_back(Tape *tape, PyObject *run, const Record *record)
{
    PyObject *g = tape_adjoint(tape, record->result); /* owned */
    if (g == NULL || g == Py_None) {
        Py_XDECREF(g);
        return g != NULL ? 0 : -1;
    }
    if (record->kind == RECORD_COPY) {
        int done = adjoint_give(tape, run, record->operands[0], g);
        Py_DECREF(g);
        return done;
    }
    PyObject *r = tape_value(tape, record->result); /* owned */
    int done = -1;
    if (r != NULL && record->kind == RECORD_RULE) {
        done = rule_give(tape, run, record, g, r);
    }
    else if (r != NULL) {
        PyObject *given = PyObject_CallFunctionObjArgs(record->act, run, g, r, NULL); /* owned */
        Py_XDECREF(given);
        done = given != NULL ? 0 : -1;
    }
    Py_XDECREF(r);
    Py_DECREF(g);
    return done;
}

/* Set the elements of an array to 0: 0, or -1 with an exception set. */
static int
array_clear(PyArrayObject *x)
{
    if (PyArray_IS_C_CONTIGUOUS(x)) {
        memset(PyArray_DATA(x), 0, (size_t)PyArray_NBYTES(x));
        return 0;
    }
    PyObject *zero = PyLong_FromLong(0); /* owned */
    int done = zero != NULL ? PyArray_FillWithScalar(x, zero) : -1;
    Py_XDECREF(zero);
    return done;
}

/* The adjoint of what was stored into an array, which the array then has no longer: NEW reference; None if it has
 * none. */
static PyObject *
stored_adjoint(Tape *tape, PyObject *target)
{
    PyObject *reached = tape_adjoint(tape, target); /* owned */
    if (reached == NULL || reached == Py_None) {
        return reached;
    }
    PyObject *g = PyArray_NewCopy((PyArrayObject *)reached, NPY_KEEPORDER); /* owned, given away */
    if (g != NULL && array_clear((PyArrayObject *)reached) < 0) {
        Py_CLEAR(g);
    }
    Py_DECREF(reached);
    return g;
}

/* Put the elements that a store has overwritten back, in the copy of the memory: 0, or -1 with an exception set. */
static int
store_undo(Tape *tape, PyObject *run, const Record *record)
{
    Memory *memory = tape_memory(tape, (PyArrayObject *)record->result);
    PyObject *part = memory != NULL ? memory_earlier(memory, run, (PyArrayObject *)record->result) : NULL; /* owned */
    int done = part != NULL ? PyArray_CopyInto((PyArrayObject *)part, (PyArrayObject *)record->old) : -1;
    Py_XDECREF(part);
    return done;
}

/* Run a record of a store under plain_run: 0, or -1 with an exception set. */
static int
store_back(Tape *tape, PyObject *run, const Record *record)
{
    PyObject *g = stored_adjoint(tape, record->result); /* owned */
    PyObject *r = NULL;                                 /* owned; the stored values, for a rule */
    int done = g != NULL ? 0 : -1;
    if (done == 0 && g != Py_None && record->kind == RECORD_UPDATE) {
        PyObject *value = tape_value(tape, record->result); /* owned */
        r = value != NULL ? PyArray_NewCopy((PyArrayObject *)value, NPY_KEEPORDER) : NULL;
        Py_XDECREF(value);
        done = r != NULL ? 0 : -1;
    }
    if (done == 0) {
        done = store_undo(tape, run, record);
    }
    if (done == 0 && g != Py_None && record->marks != 0) {
        done = record->kind == RECORD_UPDATE ? rule_give(tape, run, record, g, r)
                                             : adjoint_give(tape, run, record->operands[0], g);
    }
    Py_XDECREF(g);
    Py_XDECREF(r);
    return done;
}

/* Run a record of a store so that enclosing tapes record it. */
static int
store_back_in_python(Tape *tape, PyObject *run, const Record *record)
{
    PyObject *operands = operands_tuple(record);                  /* owned */
    PyObject *rule = record->act != NULL ? record->act : Py_None; /* borrowed */
    PyObject *done = operands == NULL ? NULL
                                      : PyObject_CallMethod((PyObject *)tape, "undo_store", "OOOOOI", run, record->result,
                                                            record->old, rule, operands, (unsigned)record->marks); /* owned */
    Py_XDECREF(operands);
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* Run one record: 0, or -1 with an exception set. */
static int
record_back(Tape *tape, PyObject *run, const Record *record)
{
    switch (record->kind) {
    case RECORD_VALUE:
    case RECORD_RULE:
    case RECORD_COPY: return value_back(tape, run, record);
    case RECORD_STORE:
    case RECORD_UPDATE: return run == plain_run ? store_back(tape, run, record) : store_back_in_python(tape, run, record);
    default: break;
    }
    PyObject *done = PyObject_CallFunctionObjArgs(record->act, run, NULL); /* owned */
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

PyObject *
records_run_back(PyObject *tape, PyObject *args)
{
    PyObject *run; /* borrowed */
    int keep;
    if (!PyArg_ParseTuple(args, "Op:run_back", &run, &keep)) {
        return NULL;
    }
    Records *records = &((Tape *)tape)->records;
    for (Py_ssize_t at = records->count; at > 0; at--) {
        Record record = records->items[at - 1]; /* owned by the tape if it is kept */
        if (!keep) {
            records->count = at - 1;
        }
        int done = record_back((Tape *)tape, run, &record);
        if (!keep) {
            record_release(&record);
        }
        if (done < 0) {
            return NULL;
        }
        if (at > records->count + 1) {
            PyErr_SetString(PyExc_RuntimeError, "a sweep ran while another sweep of the tape ran");
            return NULL;
        }
    }
    Py_RETURN_NONE;
}
