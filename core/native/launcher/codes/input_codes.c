/* Parser of a launcher's inputs; also frees them. */
#include "launcher/codes/input_codes.h"
#include "launcher/abi.h"
#include "launcher/codes/code_tables.h"
#include "launcher/codes/codes.h"

static int input_parse(Input *input, PyObject *code);

void
inputs_free(Input *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
        inputs_free(items[i].items, items[i].count);
    }
    PyMem_Free(items);
}

#define ARRAY_WARNS_OF_WRITES INT_MIN /* NumPy's NPY_ARRAY_WARN_ON_WRITE, which its headers do not define */

/* ("typed_array", type number, ndim, layout letter, writeable) */
static int
typed_array_parse(Input *input, PyObject *code)
{
    Py_ssize_t typenum = code_integer(code, 1, 0, NPY_HALF + 1);
    Py_ssize_t ndim = code_integer(code, 2, 1, NPY_MAXDIMS + 1);
    PyObject *layout = PyTuple_GET_ITEM(code, 3); /* borrowed */
    if (typenum < 0 || ndim < 0) {
        return -1;
    }
    if (!PyUnicode_Check(layout) || PyUnicode_GET_LENGTH(layout) != 1) {
        PyErr_Format(PyExc_ValueError, "not a layout: %R", code);
        return -1;
    }
    int contiguous = PyUnicode_READ_CHAR(layout, 0) == 'C' ? NPY_ARRAY_C_CONTIGUOUS : 0;
    int mask = contiguous | ARRAY_WARNS_OF_WRITES;
    if (PyUnicode_READ_CHAR(layout, 0) == 'F') {
        contiguous = NPY_ARRAY_F_CONTIGUOUS;
        mask |= NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS;
    }
    int always = NPY_ARRAY_ALIGNED | (PyTuple_GET_ITEM(code, 4) == Py_True ? NPY_ARRAY_WRITEABLE : 0);
    input->typenum = (int)typenum;
    input->ndim = (int)ndim;
    input->mask = mask | always;
    input->flags = contiguous | always;
    return 0;
}

/* Whether a part of an iterator has the right kind: an array, a list, or an iterator. */
static int
part_fits(InputKind iterator, const Input *part)
{
    if (iterator == IN_SEQUENCE_ITERATOR || iterator == IN_REVERSED_ITERATOR) {
        return part->kind == IN_TYPED_ARRAY;
    }
    if (iterator >= IN_LIST_ITERATOR) {
        return part->kind == IN_OBJECT;
    }
    return part->kind >= IN_RANGE_ITERATOR;
}

/* (kind, codes of the objects that it iterates): a zip has any number of them, the others one */
static int
iterator_parse(Input *input, PyObject *code)
{
    static PyTypeObject *const types[] = {&PyRangeIter_Type,   &PySeqIter_Type,       &PyReversed_Type,     &PyEnum_Type,
                                          &PyZip_Type,         &PyListIter_Type,      &PyUnicodeIter_Type,  &PyBytesIter_Type,
                                          &PyDictIterKey_Type, &PyDictIterValue_Type, &PyDictIterItem_Type, &PySetIter_Type};
    input->type = types[input->kind - IN_RANGE_ITERATOR];
    if (input->kind == IN_RANGE_ITERATOR) {
        return 0;
    }
    PyObject *codes = PyTuple_GET_ITEM(code, 1); /* borrowed */
    if (!PyTuple_Check(codes) || (input->kind != IN_ZIP && PyTuple_GET_SIZE(codes) != 1)) {
        PyErr_Format(PyExc_ValueError, "not the code of an iterator: %R", code);
        return -1;
    }
    input->items = PyMem_Calloc(PyTuple_GET_SIZE(codes) + 1, sizeof(Input));
    if (input->items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    input->count = PyTuple_GET_SIZE(codes);
    for (Py_ssize_t i = 0; i < input->count; i++) {
        if (input_parse(&input->items[i], PyTuple_GET_ITEM(codes, i)) < 0) {
            return -1;
        }
        if (!part_fits(input->kind, &input->items[i])) {
            PyErr_Format(PyExc_ValueError, "not what an iterator iterates: %R", code);
            return -1;
        }
    }
    return 0;
}

static int
input_parse(Input *input, PyObject *code)
{
    const CodeRow *row = code_row(input_rows, code);
    if (row == NULL) {
        return -1;
    }
    input->kind = row->kind;
    if (row->kind == IN_TYPED_ARRAY) {
        return typed_array_parse(input, code);
    }
    if (row->kind >= IN_RANGE_ITERATOR) {
        return iterator_parse(input, code);
    }
    Py_ssize_t value = row->length == 2 ? code_integer(code, 1, 0, NPY_MAXDIMS + 1) : 0;
    if (value < 0) {
        return -1;
    }
    if (row->kind == IN_SCALAR) {
        input->typenum = (int)value;
        if (scalar_size(input->typenum) == 0) {
            PyErr_Format(PyExc_ValueError, "scalars of this dtype do not fit frame words: %R", code);
            return -1;
        }
        PyObject *type = PyArray_TypeObjectFromType(input->typenum); /* owned; NumPy's types are static */
        if (type == NULL) {
            return -1;
        }
        input->type = (PyTypeObject *)type;
        Py_DECREF(type);
    }
    input->ndim = (int)value;
    return 0;
}

Py_ssize_t
inputs_parse(PyObject *codes, Input **inputs, Py_ssize_t *ninputs)
{
    Py_ssize_t words = FIRST_INPUT_WORD;

    *inputs = PyMem_Calloc(PyTuple_GET_SIZE(codes) + 1, sizeof(Input));
    if (*inputs == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *ninputs = PyTuple_GET_SIZE(codes);
    for (Py_ssize_t i = 0; i < *ninputs; i++) {
        if (input_parse(&(*inputs)[i], PyTuple_GET_ITEM(codes, i)) < 0) {
            return -1;
        }
        (*inputs)[i].words = input_words(&(*inputs)[i]);
        words += (*inputs)[i].words;
    }
    return words;
}
