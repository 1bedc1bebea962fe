/* Helpers for subscripts: loads and stores of elements by integers and slices. */
#include "tape/helpers/helpers.h"
#include "tape/helpers/access.h"
#include "cpython/vectorcall/vectorcall_inl.h"
#include "tape/recording.h"
#include "tape/values_inl.h"

/* Whether an object is an int that runs no code as an index. */
static int
is_index(PyObject *x)
{
    return PyLong_CheckExact(x) || (PyArray_IsScalar(x, Integer) && !(Py_TYPE(x)->tp_flags & Py_TPFLAGS_HEAPTYPE));
}

/* Whether an item of an index selects a view by itself, without code of the program's. */
static int
is_basic_item(PyObject *x)
{
    if (PySlice_Check(x)) {
        const PySliceObject *slice = (const PySliceObject *)x;
        return (slice->start == Py_None || is_index(slice->start)) && (slice->stop == Py_None || is_index(slice->stop))
               && (slice->step == Py_None || is_index(slice->step));
    }
    return is_index(x) || x == Py_None || x == Py_Ellipsis;
}

static int
is_basic(PyObject *index)
{
    if (!PyTuple_CheckExact(index)) {
        return is_basic_item(index);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(index); i++) {
        if (!is_basic_item(PyTuple_GET_ITEM(index, i))) {
            return 0;
        }
    }
    return 1;
}

/* The elements at a basic index as an array, also if they are one element: NEW reference, or NULL with an exception
 * set. `found`: what the index gives. */
static PyObject *
part_of(PyObject *a, PyObject *index, PyObject *found)
{
    if (PyArray_CheckExact(found)) {
        Py_INCREF(found);
        return found;
    }
    PyObject *rest = PyTuple_Pack(1, Py_Ellipsis); /* owned */
    PyObject *items = rest == NULL                ? NULL
                      : PyTuple_CheckExact(index) ? PySequence_Concat(index, rest)
                                                  : PyTuple_Pack(2, index, Py_Ellipsis); /* owned */
    PyObject *part = items != NULL ? PyObject_GetItem(a, items) : NULL;                  /* owned, given away */
    Py_XDECREF(rest);
    Py_XDECREF(items);
    return part;
}

/* ---- Loads ------------------------------------------------------------------------------------------------ */

/* A load from an array on one tape. */
static PyObject *
load_record(Tape *tape, PyObject *a, PyObject *index)
{
    int active = tape_active(tape, a);
    PyObject *result = active >= 0 ? PyObject_GetItem(a, index) : NULL; /* owned, given away */
    if (result == NULL || !active || PyArray_CheckExact(result)) {
        return result; /* a view has the adjoint of its owner */
    }
    PyObject *part = part_of(a, index, result); /* owned */
    if (part == NULL) {
        Py_DECREF(result);
        return NULL;
    }
    result = recording_copy(tape, result, (PyArrayObject *)part);
    Py_DECREF(part);
    return result;
}

static PyObject *
load_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    Tape *tape = recording.only; /* owned: code that warnings run may end the recording */
    if (nargs != 2 || (recording.count > 0 && tape == NULL)) {
        return vector_call(access_other(helper), args, nargs, NULL);
    }
    if (recording.count == 0) {
        return PyObject_GetItem(args[0], args[1]);
    }
    if ((PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])) && PyLong_CheckExact(args[1])) {
        return PyObject_GetItem(args[0], args[1]);
    }
    if (!PyArray_CheckExact(args[0]) || !is_plain(args[0]) || !is_basic(args[1])) {
        return vector_call(access_other(helper), args, nargs, NULL);
    }
    Py_INCREF(tape);
    PyObject *result = load_record(tape, args[0], args[1]); /* owned, given away */
    Py_DECREF(tape);
    return result;
}

/* ---- Stores ----------------------------------------------------------------------------------------------- */

/* The elements that a store writes, as an array: NEW reference, or NULL with an exception set. */
static PyObject *
stored_part(PyObject *a, PyObject *index)
{
    PyObject *found = PyObject_GetItem(a, index);                     /* owned */
    PyObject *part = found != NULL ? part_of(a, index, found) : NULL; /* owned, given away */
    Py_XDECREF(found);
    return part;
}

/* A store into an array on one tape: 1; 0 if Python has to; -1 with an exception set. */
static int
store_record(Tape *tape, PyObject *value, PyObject *a, PyObject *index)
{
    PyObject *part = stored_part(a, index); /* owned, then the record's */
    Record record;
    int begun = part != NULL ? recording_store_begin(tape, NULL, (PyArrayObject *)part, &value, 1, &record) : 0;
    if (begun <= 0) {
        PyErr_Clear(); /* an index that does not fit: the store raises it */
        return 0;
    }
    int made = PyObject_SetItem(a, index, value) == 0;
    return recording_store_end(tape, &record, made) < 0 || !made ? -1 : 1;
}

static PyObject *
store_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    Tape *tape = recording.only; /* owned: code that warnings run may end the recording */
    if (nargs != 1 || !PyTuple_CheckExact(args[0]) || PyTuple_GET_SIZE(args[0]) != 3 || tape == NULL) {
        return vector_call(access_other(helper), args, nargs, NULL);
    }
    PyObject *value = PyTuple_GET_ITEM(args[0], 0), *a = PyTuple_GET_ITEM(args[0], 1),
             *index = PyTuple_GET_ITEM(args[0], 2); /* borrowed */
    if (!PyArray_CheckExact(a) || !is_plain(a) || !is_plain(value) || !is_basic(index)) {
        return vector_call(access_other(helper), args, nargs, NULL);
    }
    Py_INCREF(tape);
    int stored = store_record(tape, value, a, index);
    Py_DECREF(tape);
    if (stored == 0) {
        return vector_call(access_other(helper), args, nargs, NULL);
    }
    if (stored < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* ---- Helpers ---------------------------------------------------------------------------------------------- */

static PyMethodDef load_definition = {"load", (PyCFunction)(void (*)(void))load_call, METH_FASTCALL, NULL};
static PyMethodDef store_definition = {"store_slot", (PyCFunction)(void (*)(void))store_call, METH_FASTCALL, NULL};

PyObject *
helper_load(PyObject *Py_UNUSED(module), PyObject *other)
{
    return access_new(&load_definition, other);
}

PyObject *
helper_store_slot(PyObject *Py_UNUSED(module), PyObject *other)
{
    return access_new(&store_definition, other);
}
