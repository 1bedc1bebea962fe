/* Construction of arrays from lists: kernels store the lists' items into the elements.
 *
 * Items must have the exact expected classes, so no user code runs. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/containers.h"
#include "runtime/objects/stores.h"
#include "runtime/ufuncs/library_calls.h"

typedef struct {
    int64_t list;
    int64_t rows;          /* READ_LIST or READ_TUPLE for a list of rows, 0 for a list of numbers */
    int64_t count, width;  /* number of items, and of items in each row */
    int64_t data, typenum; /* address and type number of the elements, in C order */
    int64_t several;       /* whether `kinds` has one kind for each item of a row */
    int64_t kinds[1];      /* kinds of numbers, as in stores.h */
} Listed;

/* The class of numbers of a kind. Returns a new reference, or NULL. */
static PyTypeObject *
number_class(int64_t kind)
{
    PyTypeObject *type; /* borrowed */
    switch (kind) {
    case BOX_INT: type = &PyLong_Type; break;
    case BOX_FLOAT: type = &PyFloat_Type; break;
    case BOX_BOOL: type = &PyBool_Type; break;
    default: return (PyTypeObject *)PyArray_TypeObjectFromType((int)kind);
    }
    Py_INCREF(type);
    return type;
}

/* Stores numbers of a class, `step` bytes apart. */
static int64_t
numbers_store(PyObject *const *items, int64_t count, int64_t kind, PyTypeObject *type, char *at, int64_t step, int typenum)
{
    int whole = kind != BOX_FLOAT && (kind < 0 || !PyTypeNum_ISFLOAT((int)kind));
    int64_t words[2];
    for (int64_t i = 0; i < count; i++, at += step) {
        if (Py_TYPE(items[i]) != type) {
            return BAILED_OUT;
        }
        if (kind == BOX_FLOAT && typenum == NPY_DOUBLE) {
            *(npy_double *)at = PyFloat_AS_DOUBLE(items[i]);
            continue;
        }
        if (kind >= 0) {
            scalar_words(items[i], (int)kind, words);
        }
        else if (number_read(kind, items[i], words) != 0) {
            return BAILED_OUT;
        }
        if (whole && typenum == NPY_DOUBLE) {
            *(npy_double *)at = (npy_double)words[0];
        }
        else {
            scalar_store(at, typenum, words[0]);
        }
    }
    return 0;
}

static int64_t
rows_store(const Listed *listed, PyTypeObject *const *types, int itemsize)
{
    PyTypeObject *python = listed->rows == READ_LIST ? &PyList_Type : &PyTuple_Type; /* borrowed */
    char *at = (char *)listed->data;
    int64_t status = 0;
    for (int64_t i = 0; status == 0 && i < listed->count; i++) {
        PyObject *row = PyList_GET_ITEM((PyObject *)listed->list, i); /* borrowed */
        if (Py_TYPE(row) != python || Py_SIZE(row) != listed->width) {
            return BAILED_OUT;
        }
        PyObject *const *items = PySequence_Fast_ITEMS(row); /* borrowed */
        if (!listed->several) {
            status = numbers_store(items, listed->width, listed->kinds[0], types[0], at, itemsize, (int)listed->typenum);
        }
        for (int64_t j = 0; listed->several && status == 0 && j < listed->width; j++) {
            status = numbers_store(items + j, 1, listed->kinds[j], types[j], at + j * itemsize, 0, (int)listed->typenum);
        }
        at += listed->width * itemsize;
    }
    return status;
}

enum { MOST_KINDS = 8 };

/* Stores the items of a list, or of the rows in it, into an array. Returns BAILED_OUT if an item is not the expected
 * one. */
int64_t
runtime_listed(int64_t spec)
{
    const Listed *listed = (const Listed *)spec;
    PyTypeObject *types[MOST_KINDS] = {NULL}; /* owned */
    int64_t number = listed->several ? listed->width : 1, status = number > MOST_KINDS ? BAILED_OUT : 0;
    int itemsize = scalar_size((int)listed->typenum);

    for (int64_t i = 0; status == 0 && i < number; i++) {
        types[i] = number_class(listed->kinds[i]);
        status = types[i] == NULL ? BAILED_OUT : 0;
    }
    if (PyErr_Occurred()) {
        PyErr_Clear();
    }
    if (status == 0) {
        status = listed->rows ? rows_store(listed, types, itemsize)
                              : numbers_store(PySequence_Fast_ITEMS((PyObject *)listed->list), listed->count, listed->kinds[0],
                                              types[0], (char *)listed->data, itemsize, (int)listed->typenum);
    }
    for (int64_t i = 0; i < MOST_KINDS; i++) {
        Py_XDECREF(types[i]);
    }
    return status;
}
