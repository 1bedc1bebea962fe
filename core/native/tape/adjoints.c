#include "tape/adjoints.h"
#include "tape/run.h"
#include "tape/values_inl.h"
#include <math.h>

/* ---- Numbers ---------------------------------------------------------------------------------------------- */

/* Whether the value is a Python float or a float64 of NumPy. */
static int
is_double(PyObject *x)
{
    return PyFloat_CheckExact(x) || Py_TYPE(x) == &PyDoubleArrType_Type;
}

/* A contribution to a double as float64, which rules compute with as with arrays: it never raises ZeroDivisionError.
 * NEW reference; NULL without an exception if it has to be summed or cast first. */
static PyObject *
as_double(PyObject *g)
{
    if (Py_TYPE(g) == &PyDoubleArrType_Type) {
        Py_INCREF(g);
        return g;
    }
    if (PyFloat_CheckExact(g)) {
        double value = PyFloat_AS_DOUBLE(g);
        return PyArray_Scalar(&value, PyArray_DescrFromType(NPY_DOUBLE), NULL);
    }
    return NULL;
}

/* Add to the adjoint of a double: 1; 0 if Python has to; -1 with an exception set. */
static int
number_give(Tape *tape, PyObject *x, PyObject *g)
{
    Number *number = tape_number(tape, x);
    PyObject *added = number != NULL && is_double(x) ? as_double(g) : NULL; /* owned, then the number's */
    if (added == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    if (number->adjoint != NULL) {
        PyObject *sum = PyNumber_Add(number->adjoint, added); /* owned, then the number's */
        Py_DECREF(added);
        if (sum == NULL) {
            return -1;
        }
        added = sum;
        number = tape_number(tape, x);
    }
    Py_XSETREF(number->adjoint, added);
    return 1;
}

/* ---- Arrays ----------------------------------------------------------------------------------------------- */

#define REAL double
#define NAME doubles_add
#include "tape/elements_add.inc"

#define REAL float
#define NAME floats_add
#include "tape/elements_add.inc"

/* Add contiguous numbers, as NumPy does: 1, or 0 if these arrays are not of this kind. `shadow`: where the elements of
 * `x` are in the shadow. */
static int
elements_add(PyArrayObject *x, char *shadow, PyArrayObject *g)
{
    npy_intp count = PyArray_SIZE(x);
    const char *low = PyArray_BYTES(g), *high = low + PyArray_NBYTES(g);
    if (!PyArray_IS_C_CONTIGUOUS(x) || !PyArray_IS_C_CONTIGUOUS(g) || !PyArray_ISALIGNED(g)
        || (uintptr_t)shadow % (size_t)PyArray_ITEMSIZE(x) != 0 || (low < shadow + PyArray_NBYTES(x) && shadow < high)) {
        return 0;
    }
    switch (PyArray_TYPE(x)) {
    case NPY_DOUBLE: doubles_add(shadow, low, count); return 1;
    case NPY_FLOAT: floats_add(shadow, low, count); return 1;
    default: return 0;
    }
}

/* Add to the adjoint of an array: 1; 0 if Python has to; -1 with an exception set. */
static int
array_give(Tape *tape, PyArrayObject *x, PyObject *given)
{
    PyArrayObject *g = (PyArrayObject *)given;
    if (!PyArray_CheckExact(given) || PyArray_TYPE(g) != PyArray_TYPE(x) || !is_number_type(PyArray_TYPE(x))
        || !PyArray_ISNOTSWAPPED(g) || !PyArray_ISNOTSWAPPED(x) || !same_shape(x, g) || overlaps_itself(x)) {
        return 0;
    }
    Memory *memory = tape_memory(tape, x);
    if (memory == NULL || memory_shadow_make(memory) < 0) {
        return -1;
    }
    if (PyArray_SIZE(x) == 0 || elements_add(x, PyArray_BYTES(memory->shadow) + (PyArray_BYTES(x) - memory->low), g)) {
        return 1;
    }
    PyObject *shadow = memory_shadow(memory, x);                                        /* owned */
    PyObject *sum = shadow != NULL ? PyNumber_InPlaceAdd(shadow, (PyObject *)g) : NULL; /* owned */
    Py_XDECREF(shadow);
    Py_XDECREF(sum);
    return sum != NULL ? 1 : -1;
}

/* Add the items of a Parts (core/graph/derivatives/adjoints.py) one by one: 0, or -1 with an exception set. */
static int
parts_add(Tape *tape, PyObject *run, PyObject *x, PyObject *parts)
{
    int done = 0;
    for (Py_ssize_t i = 0; done == 0 && i < PyTuple_GET_SIZE(parts); i++) {
        done = adjoint_give(tape, run, x, PyTuple_GET_ITEM(parts, i));
    }
    return done;
}

int
adjoint_give(Tape *tape, PyObject *run, PyObject *x, PyObject *g)
{
    if (g == Py_None) {
        return 0;
    }
    if (PyTuple_Check(g) && !PyTuple_CheckExact(g)) {
        return parts_add(tape, run, x, g);
    }
    if (!PyList_CheckExact(x) && !PyTuple_CheckExact(x)) {
        int active = tape_active(tape, x);
        if (active <= 0) {
            return active;
        }
        if (run == plain_run) {
            int given = PyArray_Check(x) ? array_give(tape, (PyArrayObject *)x, g) : number_give(tape, x, g);
            if (given != 0) {
                return given < 0 ? -1 : 0;
            }
        }
    }
    PyObject *done = PyObject_CallMethod((PyObject *)tape, "give_converted", "OOO", run, x, g); /* owned */
    Py_XDECREF(done);
    return done != NULL ? 0 : -1;
}

/* ---- Strong zeros ----------------------------------------------------------------------------------------- */

PyObject *
adjoint_strong_zero(PyObject *g, PyObject *contribution)
{
    if (is_double(g) && is_double(contribution)) {
        if (PyFloat_AsDouble(g) != 0.0 || isfinite(PyFloat_AsDouble(contribution))) {
            Py_INCREF(contribution);
            return contribution;
        }
        return NULL;
    }
    PyArrayObject *a = (PyArrayObject *)g, *b = (PyArrayObject *)contribution;
    if (!PyArray_CheckExact(g) || !PyArray_CheckExact(contribution) || PyArray_TYPE(a) != NPY_DOUBLE
        || PyArray_TYPE(b) != NPY_DOUBLE || !PyArray_ISCARRAY_RO(a) || !PyArray_ISCARRAY_RO(b) || !same_shape(a, b)) {
        return NULL;
    }
    const double *adjoint = PyArray_DATA(a), *value = PyArray_DATA(b);
    for (npy_intp i = 0; i < PyArray_SIZE(a); i++) {
        if (adjoint[i] == 0.0 && !isfinite(value[i])) {
            return NULL;
        }
    }
    Py_INCREF(contribution);
    return contribution;
}
