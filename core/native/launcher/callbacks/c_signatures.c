/* The C functions that stand for CCallbacks, one for each signature of SciPy's callbacks.
 *
 * Arguments become what SciPy gives a Python function in that place: numbers become floats, memory becomes a new array,
 * coordinates become a tuple of integers. Each function takes the GIL, also in threads that Python does not know.
 *
 * A function that returns a status reports an exception to its caller: it returns 0 with the exception set. SciPy may go
 * on to call it; these calls do nothing while the exception is set. One that returns a number cannot report it. It returns
 * NaN, and its thread raises the exception when bytecode runs next (postponed_errors.h). Until then further calls return
 * NaN. Threads that Python does not know report it by sys.unraisablehook. */
#include "launcher/callbacks/c_signatures.h"
#include "launcher/callbacks/postponed_errors.h"
#include <math.h>

/* ---- Begin and end of a call -------------------------------------------------------------------------------- */

typedef struct {
    PyGILState_STATE gil;
    int is_known; /* whether Python knows the thread without this call */
} Entered;

static Entered
call_enter(void)
{
    Entered entered;
    entered.is_known = PyGILState_GetThisThreadState() != NULL;
    entered.gil = PyGILState_Ensure();
    return entered;
}

/* End a call that returns a status: 1, or 0 if an exception is set, which the caller finds. */
static int
status_leave(CCallback *self, Entered entered)
{
    int failed = PyErr_Occurred() != NULL;
    if (failed && !entered.is_known) {
        PyErr_WriteUnraisable(self->function);
    }
    PyGILState_Release(entered.gil);
    return !failed;
}

static double
number_call(CCallback *self, const double *numbers, Py_ssize_t count)
{
    double number = NAN;
    PyGILState_STATE gil = PyGILState_Ensure();
    if (PyErr_Occurred() == NULL && !error_waits(self) && callback_number(self, numbers, count, &number) < 0) {
        number = NAN;
        error_postpone(self);
    }
    PyGILState_Release(gil);
    return number;
}

/* ---- Arrays -------------------------------------------------------------------------------------------------- */

static int
array_fits(PyObject *array, npy_intp size)
{
    return array != NULL && Py_REFCNT(array) == 1 && PyArray_DIM((PyArrayObject *)array, 0) == size;
}

/* An array of float64, one of an earlier call if nobody else has it: a NEW reference, or NULL with an exception set. */
static PyObject *
array_take(CCallback *self, int place, npy_intp size)
{
    PyObject *array = self->kept_arrays[place]; /* owned, given away */
    self->kept_arrays[place] = NULL;
    if (array_fits(array, size)) {
        return array;
    }
    Py_XDECREF(array);
    return PyArray_SimpleNew(1, &size, NPY_DOUBLE);
}

/* Give an array back. Takes over the reference. Only arrays that no Python code has seen are kept, because such code may
 * change the flags of an array. */
static void
array_give(CCallback *self, int place, PyObject *array, int computed)
{
    if (computed && self->kept_arrays[place] == NULL && array != NULL && Py_REFCNT(array) == 1) {
        self->kept_arrays[place] = array;
    }
    else {
        Py_XDECREF(array);
    }
}

/* Set the elements of an array to those in memory, or to 0. */
static void
array_fill(PyObject *array, const double *memory)
{
    void *data = PyArray_DATA((PyArrayObject *)array);
    npy_intp bytes = PyArray_NBYTES((PyArrayObject *)array);
    if (memory != NULL) {
        memcpy(data, memory, bytes);
    }
    else {
        memset(data, 0, bytes);
    }
}

/* The result of a call with arrays whose elements are given; NULL: zeros. *computed is whether the kernel computed it. A
 * NEW reference, or NULL with an exception set. */
static PyObject *
arrays_call(CCallback *self, PyObject *const *arrays, const double *const *memory, int count, int *computed)
{
    PyObject *result = NULL; /* owned, given away */
    for (int i = 0; i < count; i++) {
        array_fill(arrays[i], memory[i]);
    }
    int ran = self->count == count ? callback_kernel(self, arrays, &result) : 0;
    *computed = ran == 1;
    if (ran == 0) {
        for (int i = 0; i < count; i++) {
            array_fill(arrays[i], memory[i]);
        }
        result = callback_function(self, arrays, count);
    }
    return result;
}

/* ---- The signatures ------------------------------------------------------------------------------------------ */

static double
one_number(double number, void *data)
{
    return number_call(data, &number, 1);
}

static double
several_numbers(int count, double *numbers, void *data)
{
    return number_call(data, numbers, count);
}

static int
filter_window(double *window, intptr_t size, double *number, void *data)
{
    CCallback *self = data; /* borrowed */
    Entered entered = call_enter();
    if (PyErr_Occurred()) {
        return status_leave(self, entered);
    }
    PyObject *array = array_take(self, 0, size); /* owned */
    const double *memory[] = {window};
    int computed = 0;
    PyObject *result = array != NULL ? arrays_call(self, &array, memory, 1, &computed) : NULL; /* owned */
    if (result != NULL) {
        *number = PyFloat_AsDouble(result);
        Py_DECREF(result);
    }
    array_give(self, 0, array, computed);
    return status_leave(self, entered);
}

static int
filter_line(double *line, intptr_t size, double *written, intptr_t written_size, void *data)
{
    CCallback *self = data; /* borrowed */
    Entered entered = call_enter();
    if (PyErr_Occurred()) {
        return status_leave(self, entered);
    }
    PyObject *arrays[] = {array_take(self, 0, size), NULL}; /* items owned */
    const double *memory[] = {line, NULL};
    PyObject *result = NULL; /* owned */
    int computed = 0;
    if (arrays[0] != NULL && (arrays[1] = array_take(self, 1, written_size)) != NULL) {
        result = arrays_call(self, arrays, memory, 2, &computed);
    }
    if (result != NULL) {
        memcpy(written, PyArray_DATA((PyArrayObject *)arrays[1]), written_size * sizeof(double));
        Py_DECREF(result);
    }
    array_give(self, 0, arrays[0], computed);
    array_give(self, 1, arrays[1], computed);
    return status_leave(self, entered);
}

/* Coordinates as a tuple: a NEW reference, or NULL with an exception set. */
static PyObject *
coordinates_tuple(const intptr_t *coordinates, int rank)
{
    PyObject *tuple = PyTuple_New(rank); /* owned, given away */
    for (int i = 0; tuple != NULL && i < rank; i++) {
        PyObject *number = PyLong_FromSsize_t(coordinates[i]); /* owned, given away */
        if (number == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, i, number);
    }
    return tuple;
}

static int
map_coordinates(intptr_t *coordinates, double *found, int rank, int found_rank, void *data)
{
    CCallback *self = data; /* borrowed */
    Entered entered = call_enter();
    if (PyErr_Occurred()) {
        return status_leave(self, entered);
    }
    PyObject *tuple = coordinates_tuple(coordinates, rank); /* owned */
    PyObject *result = NULL;                                /* owned */
    if (tuple != NULL && (self->count != 1 || callback_kernel(self, &tuple, &result) == 0)) {
        result = callback_function(self, &tuple, 1);
    }
    for (int i = 0; result != NULL && i < found_rank && !PyErr_Occurred(); i++) {
        PyObject *number = PyTuple_GetItem(result, i); /* borrowed */
        found[i] = number != NULL ? PyFloat_AsDouble(number) : NAN;
    }
    Py_XDECREF(result);
    Py_XDECREF(tuple);
    return status_leave(self, entered);
}

static const CSignature signatures[] = {
    {"double (double, void *)", (void *)one_number},
    {"double (int, double *, void *)", (void *)several_numbers},
    {"int (double *, intptr_t, double *, void *)", (void *)filter_window},
    {"int (double *, intptr_t, double *, intptr_t, void *)", (void *)filter_line},
    {"int (intptr_t *, double *, int, int, void *)", (void *)map_coordinates},
    {NULL},
};

const CSignature *
signature_find(const char *text)
{
    const CSignature *one = signatures;
    while (one->text != NULL && strcmp(one->text, text) != 0) {
        one++;
    }
    return one->text != NULL ? one : NULL;
}
