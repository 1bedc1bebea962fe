/* Calls of library functions from kernels.
 *
 * The functions affect nothing except their result, and have no effect if they raise. If the result does not have the
 * type that the kernel was compiled for, the kernel leaves before the call. Bytecode then repeats the call, with its
 * exception or warning. Other threads may run during the call, as they may in bytecode. */
#include "runtime/ufuncs/library_calls.h"
#include "launcher/abi.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "runtime/entries.h"
#include "runtime/objects/construct.h"
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"
#include "runtime/runtime_inl.h"
#include "runtime/signal_handlers.h"
#include "runtime/ufuncs/error_state.h"
#include <string.h>

int
nothing(void *unused)
{
    return 0;
}

/* True if NumPy runs no user code to make an array of such items: numbers, strings, arrays, and rows of these. */
static int
items_are_plain(PyObject **items, Py_ssize_t count, int depth)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyTypeObject *type = Py_TYPE(items[i]);
        PyObject **row = type == &PyList_Type ? ((PyListObject *)items[i])->ob_item : ((PyTupleObject *)items[i])->ob_item;
        if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type || type == &PyArray_Type
            || type == &PyComplex_Type || type == &PyUnicode_Type
            || (PyArray_IsScalar(items[i], Number) && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE))) {
            continue;
        }
        if (depth == DEEPEST_QUIET || (type != &PyList_Type && type != &PyTuple_Type)
            || !items_are_plain(row, Py_SIZE(items[i]), depth + 1)) {
            return 0;
        }
    }
    return 1;
}

int64_t
runtime_plain_items(int64_t owner)
{
    PyObject *key, *value; /* borrowed */
    Py_ssize_t position = 0;
    int plain = 1;
    if (PyList_CheckExact((PyObject *)owner)) {
        return items_are_plain(((PyListObject *)owner)->ob_item, PyList_GET_SIZE((PyObject *)owner), 0) ? 0 : BAILED_OUT;
    }
    while (plain && PyDict_Next((PyObject *)owner, &position, &key, &value)) {
        plain = items_are_plain(&key, 1, 0);
    }
    return plain ? 0 : BAILED_OUT;
}

#define UNKNOWN_LENGTH (-1)
#define NO_LENGTH (-2) /* of an item that is no row */

/* Whether an item at a depth is as long as those before it. */
static int
length_fits(npy_intp *lengths, int depth, npy_intp length)
{
    if (lengths[depth] == UNKNOWN_LENGTH) {
        lengths[depth] = length;
    }
    return lengths[depth] == length;
}

/* True if plain items have one shape; `lengths` are those of the items before them, by depth. */
static int
rows_are_even(PyObject **items, Py_ssize_t count, int depth, npy_intp *lengths)
{
    int even = 1;
    for (Py_ssize_t i = 0; even && i < count; i++) {
        PyObject *item = items[i]; /* borrowed */
        if (PyList_CheckExact(item) || PyTuple_CheckExact(item)) {
            PyObject **row = PyList_CheckExact(item) ? ((PyListObject *)item)->ob_item : ((PyTupleObject *)item)->ob_item;
            even = length_fits(lengths, depth, Py_SIZE(item)) && rows_are_even(row, Py_SIZE(item), depth + 1, lengths);
            continue;
        }
        int ndim = PyArray_CheckExact(item) ? PyArray_NDIM((PyArrayObject *)item) : 0;
        for (int axis = 0; even && axis < ndim; axis++) {
            even = length_fits(lengths, depth + axis, PyArray_DIM((PyArrayObject *)item, axis));
        }
        even = even && length_fits(lengths, depth + ndim, NO_LENGTH);
    }
    return even;
}

int64_t
runtime_even_rows(int64_t list)
{
    npy_intp lengths[DEEPEST_QUIET + NPY_MAXDIMS + 2];
    for (size_t depth = 0; depth < sizeof(lengths) / sizeof(lengths[0]); depth++) {
        lengths[depth] = UNKNOWN_LENGTH;
    }
    return rows_are_even(((PyListObject *)list)->ob_item, PyList_GET_SIZE((PyObject *)list), 0, lengths) ? 0 : BAILED_OUT;
}

/* `keywords` is a tuple of the last arguments' names, or NULL. Returns a NEW reference, or NULL with an exception
 * set. */
static PyObject *
spec_call(PyObject *function, PyObject *keywords, int64_t count, const int64_t *spec)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    PyObject *result = NULL;                           /* owned, given away */
    PyObject *arguments = PyTuple_New(count - named);  /* owned */
    PyObject *names = named > 0 ? PyDict_New() : NULL; /* owned */
    int status = arguments == NULL || (named > 0 && names == NULL) ? -1 : 0;
    for (Py_ssize_t i = 0; status == 0 && i < count; i++) {
        PyObject *value = spec_box(spec, i); /* owned, or moved into the tuple */
        if (value == NULL) {
            status = -1;
        }
        else if (i < count - named) {
            PyTuple_SET_ITEM(arguments, i, value);
        }
        else {
            status = PyDict_SetItem(names, PyTuple_GET_ITEM(keywords, i - (count - named)), value);
            Py_DECREF(value);
        }
    }
    if (status == 0) {
        result = PyObject_Call(function, arguments, names);
    }
    Py_XDECREF(arguments);
    Py_XDECREF(names);
    return result;
}

int64_t
number_read(int64_t kind, PyObject *object, int64_t *words)
{
    int overflow = 0;
    double value;

    switch (kind) {
    case BOX_INT:
        if (!PyLong_CheckExact(object)) {
            return BAILED_OUT;
        }
        words[0] = PyLong_AsLongLongAndOverflow(object, &overflow);
        return overflow ? BAILED_OUT : 0;
    case BOX_BOOL: words[0] = object == Py_True; return PyBool_Check(object) ? 0 : BAILED_OUT;
    case BOX_FLOAT:
        if (!PyFloat_CheckExact(object)) {
            return BAILED_OUT;
        }
        value = PyFloat_AS_DOUBLE(object);
        memcpy(words, &value, sizeof(value));
        return 0;
    case BOX_COMPLEX:
        if (!PyComplex_CheckExact(object)) {
            return BAILED_OUT;
        }
        memcpy(words, &((PyComplexObject *)object)->cval, sizeof(Py_complex));
        return 0;
    default: break;
    }
    PyObject *type = PyArray_TypeObjectFromType((int)kind); /* owned */
    int same = type == (PyObject *)Py_TYPE(object);
    Py_XDECREF(type);
    if (!same) {
        return BAILED_OUT;
    }
    scalar_words(object, (int)kind, words);
    return 0;
}

int64_t
array_read(const Wanted *wanted, PyObject *object, int64_t *desc)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (!PyArray_CheckExact(object) || PyArray_NDIM(array) != wanted->ndim || PyArray_TYPE(array) != wanted->typenum
        || (PyArray_FLAGS(array) & wanted->mask) != wanted->flags || !PyArray_ISNOTSWAPPED(array)) {
        return BAILED_OUT;
    }
    desc[DESC_DATA] = (int64_t)PyArray_DATA(array);
    desc[DESC_OBJECT] = (int64_t)object;
    for (int64_t axis = 0; axis < wanted->ndim; axis++) {
        desc[DESC_SHAPE + axis] = PyArray_DIM(array, (int)axis);
        desc[DESC_SHAPE + wanted->ndim + axis] = PyArray_STRIDE(array, (int)axis);
    }
    return 0;
}

int64_t
result_read(int64_t frame, const Wanted *wanted, PyObject *result, int64_t *out)
{
    int64_t status;
    if (wanted->kind != READ_ARRAY && wanted->kind != BOX_OBJECT) {
        status = number_read(wanted->kind, result, out);
        Py_DECREF(result);
        return status;
    }
    if (wanted->kind == READ_ARRAY) {
        status = array_read(wanted, result, out);
    }
    else {
        status = (int64_t)Py_TYPE(result) == wanted->typenum ? 0 : BAILED_OUT;
        out[0] = (int64_t)result;
    }
    if (status != 0) {
        Py_DECREF(result);
        return status;
    }
    return owned_push(frame_owned(frame), result) < 0 ? LAUNCHER_ERROR : 0;
}

/* The kernel's answer to an exception that the call may have raised. Steals the references. */
static int64_t
common_answer(PyObject *type, PyObject *value, PyObject *traceback)
{
    if (raised_by_handler(traceback)) {
        return raise_later(type, value, traceback) < 0 ? LAUNCHER_ERROR : BAILED_OUT;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return BAILED_OUT;
}

int64_t
exception_answer(void)
{
    PyObject *type, *value, *traceback; /* owned */
    int is_common = PyErr_ExceptionMatches(PyExc_Exception);
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (is_common) {
        return common_answer(type, value, traceback);
    }
    PyObject *args = value == NULL ? NULL : ((PyBaseExceptionObject *)value)->args; /* borrowed */
    if (args != NULL && PyTuple_Check(args) && PyTuple_GET_SIZE(args) > 0) {
        PyErr_Restore(type, value, traceback);
        return LAUNCHER_ERROR;
    }
    PyThreadState_SetAsyncExc(PyThread_get_thread_ident(), type); /* creates an equal instance */
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return BAILED_OUT;
}

int64_t
runtime_invoke(int64_t frame, int64_t function, int64_t keywords, int64_t count, int64_t spec, int64_t wanted, int64_t strict,
               int64_t out)
{
    ErrorState saved = {NULL};
    unsigned long switches = gil_switches();
    PyObject *result = NULL; /* owned, given away */

    if (!strict || errors_raise(&saved) == 0) {
        result = spec_call((PyObject *)function, (PyObject *)keywords, count, (const int64_t *)spec);
    }
    errors_restore(&saved);
    if (gil_switches() != switches) {
        Py_AddPendingCall(nothing, NULL); /* loops leave at the next safepoint: their condition may differ */
    }
    if (PyErr_Occurred()) {
        Py_XDECREF(result);
        return exception_answer();
    }
    if (result == NULL) {
        return BAILED_OUT;
    }
    return result_read(frame, (const Wanted *)wanted, result, (int64_t *)out);
}

/* Item `index` of a tuple that a call has returned. */
int64_t
runtime_item(int64_t frame, int64_t tuple, int64_t index, int64_t wanted, int64_t out)
{
    if (index >= PyTuple_GET_SIZE((PyObject *)tuple)) {
        return BAILED_OUT;
    }
    PyObject *item = PyTuple_GET_ITEM((PyObject *)tuple, index); /* owned, given away */
    Py_INCREF(item);
    return result_read(frame, (const Wanted *)wanted, item, (int64_t *)out);
}

/* Item `index` of a list. A negative index counts from the end. */
int64_t
runtime_list_item(int64_t frame, int64_t list, int64_t index, int64_t wanted, int64_t out)
{
    PyObject **slot = item_slot(list, index);
    if (slot == NULL) {
        return BAILED_OUT;
    }
    Py_INCREF(*slot); /* given away */
    return result_read(frame, (const Wanted *)wanted, *slot, (int64_t *)out);
}
