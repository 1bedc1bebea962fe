#include "tape/recording.h"
#include "tape/values_inl.h"

__thread Recording recording = {0, NULL};

PyObject *
recording_set_tapes(PyObject *Py_UNUSED(module), PyObject *tapes)
{
    if (!PyList_Check(tapes)) {
        return PyErr_Format(PyExc_TypeError, "set_tapes: tapes must be a list, not %.200s", Py_TYPE(tapes)->tp_name);
    }
    PyObject *only = PyList_GET_SIZE(tapes) == 1 ? PyList_GET_ITEM(tapes, 0) : NULL; /* borrowed, then owned */
    if (only != NULL && !PyObject_TypeCheck(only, &Tape_Type)) {
        only = NULL;
    }
    Tape *before = recording.only; /* owned */
    Py_XINCREF(only);
    recording.only = (Tape *)only;
    recording.count = PyList_GET_SIZE(tapes);
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

int
recording_marks(Tape *tape, PyObject *const *operands, Py_ssize_t count)
{
    int marks = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int active = tape_active(tape, operands[i]);
        if (active < 0) {
            return -1;
        }
        marks |= active << i;
    }
    return marks;
}

static void
operands_release(Record *record)
{
    for (int i = 0; i < MOST_OPERANDS; i++) {
        Py_CLEAR(record->operands[i]);
    }
}

/* Put operands into a record: 0, or -1 with an exception set. */
static int
operands_freeze(Record *record, PyObject *const *operands, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        record->operands[i] = record_frozen(operands[i]);
        if (record->operands[i] == NULL) {
            operands_release(record);
            return -1;
        }
    }
    return 0;
}

/* Append a record whose result is new. The result is taken over, as are the record's references. */
static PyObject *
result_append(Tape *tape, PyObject *result, Record *record)
{
    record->result = record_frozen(result);
    if (record->result == NULL || tape_start(tape, result) < 0) {
        Py_XDECREF(record->result);
        operands_release(record);
        Py_XDECREF(record->act);
        Py_XDECREF(record->names);
        Py_DECREF(result);
        return NULL;
    }
    if (records_append((PyObject *)tape, *record) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

/* Whether a result needs a record: 1, 0, or -1 with an exception set. */
static int
needs_record(Tape *tape, PyObject *result)
{
    if (!tape_carries(tape, result)) {
        return 0;
    }
    int active = tape_active(tape, result);
    return active < 0 ? -1 : !active;
}

/* Record a result that is not plain, in Python; the result is taken over. */
static PyObject *
result_in_python(Tape *tape, const Operation *operation, PyObject *result)
{
    PyObject *operands = PyTuple_New(operation->count); /* owned */
    for (Py_ssize_t i = 0; operands != NULL && i < operation->count; i++) {
        Py_INCREF(operation->operands[i]);
        PyTuple_SET_ITEM(operands, i, operation->operands[i]);
    }
    PyObject *names = operation->names != NULL ? operation->names : Py_None; /* borrowed */
    PyObject *done = operands == NULL ? NULL
                                      : PyObject_CallMethod((PyObject *)tape, "record_by_rule", "OOOO", operation->rule,
                                                            result, operands, names); /* owned */
    Py_XDECREF(operands);
    if (done == NULL) {
        Py_CLEAR(result);
    }
    Py_XDECREF(done);
    return result;
}

/* Note that an operation cuts derivatives; the result is taken over. */
static PyObject *
result_cut(Tape *tape, const Rule *rule, PyObject *result)
{
    PyObject *name = PyObject_GetAttrString(rule->function, "__name__"); /* owned */
    if (name == NULL || places_cut(&tape->places, name) < 0) {
        Py_CLEAR(result);
    }
    Py_XDECREF(name);
    return result;
}

PyObject *
recording_result(Tape *tape, const Operation *operation, PyObject *result)
{
    if (operation->rule->vjp == NULL && PyTuple_GET_SIZE(operation->rule->partials) == 0) {
        return result_cut(tape, operation->rule, result);
    }
    if (!is_plain(result)) {
        return result_in_python(tape, operation, result);
    }
    int needs = needs_record(tape, result);
    for (Py_ssize_t i = 0; needs > 0 && i < operation->count; i++) {
        needs = operation->operands[i] != result;
    }
    if (needs == 0) {
        return result;
    }
    Record record = {.kind = RECORD_RULE, .marks = (unsigned char)operation->marks};
    if (needs < 0 || operands_freeze(&record, operation->operands, operation->count) < 0) {
        Py_DECREF(result);
        return NULL;
    }
    Py_INCREF(operation->rule);
    record.act = (PyObject *)operation->rule;
    Py_XINCREF(operation->names);
    record.names = operation->names;
    return result_append(tape, result, &record);
}

PyObject *
recording_copy(Tape *tape, PyObject *result, PyArrayObject *part)
{
    int needs = needs_record(tape, result);
    if (needs <= 0) {
        if (needs < 0) {
            Py_CLEAR(result);
        }
        return result;
    }
    Py_INCREF(part);
    Record record = {.kind = RECORD_COPY, .marks = 1, .operands = {(PyObject *)part}};
    return result_append(tape, result, &record);
}

/* ---- Stores ----------------------------------------------------------------------------------------------- */

int
recording_store_begin(Tape *tape, Rule *rule, PyArrayObject *part, PyObject *const *operands, Py_ssize_t count, Record *record)
{
    *record = (Record){.kind = rule != NULL ? RECORD_UPDATE : RECORD_STORE, .result = (PyObject *)part};
    Memory *memory = tape_carries(tape, (PyObject *)part) ? tape_memory(tape, part) : NULL;
    if (memory == NULL || (memory->shared != NULL && memory->shared != Py_None)) {
        Py_CLEAR(record->result);
        return PyErr_Occurred() ? -1 : 0;
    }
    int marks = recording_marks(tape, operands, count);
    record->old = marks >= 0 ? PyArray_NewCopy(part, NPY_KEEPORDER) : NULL;
    if (record->old == NULL || tape_hold(tape, PyArray_NBYTES(part)) < 0 || operands_freeze(record, operands, count) < 0) {
        recording_store_end(tape, record, 0);
        return -1;
    }
    record->marks = (unsigned char)marks;
    Py_XINCREF(rule);
    record->act = (PyObject *)rule;
    return 1;
}

int
recording_store_end(Tape *tape, Record *record, int made)
{
    if (made && (record->marks == 0 || tape_start(tape, record->result) == 0)) {
        return records_append((PyObject *)tape, *record);
    }
    Py_CLEAR(record->result);
    Py_CLEAR(record->act);
    Py_CLEAR(record->old);
    operands_release(record);
    return made ? -1 : 0;
}
