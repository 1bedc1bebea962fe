/* Tables of input and output codes, and lookup of a code tuple in them. */
#include "launcher/codes/code_tables.h"
#include "launcher/abi.h"
#include "launcher/codes/codes.h"

const CodeRow input_rows[] = {
    {"skip", IN_SKIP, 1, 0},
    {"array", IN_ARRAY, 2, 0},
    {"int", IN_INT, 1, 0},
    {"float", IN_FLOAT, 1, 0},
    {"bool", IN_BOOL, 1, 0},
    {"complex", IN_COMPLEX, 1, 0},
    {"scalar", IN_SCALAR, 2, 0},
    {"object", IN_OBJECT, 1, 0},
    {"typed_array", IN_TYPED_ARRAY, 5, 0},
    {"range_iterator", IN_RANGE_ITERATOR, 1, 0},
    {"sequence_iterator", IN_SEQUENCE_ITERATOR, 2, 0},
    {"reversed_iterator", IN_REVERSED_ITERATOR, 2, 0},
    {"enumerate", IN_ENUMERATE, 2, 0},
    {"zip", IN_ZIP, 2, 0},
    {"list_iterator", IN_LIST_ITERATOR, 2, 0},
    {"dict_keys", IN_DICT_KEYS, 2, 0},
    {"dict_values", IN_DICT_VALUES, 2, 0},
    {"dict_items", IN_DICT_ITEMS, 2, 0},
    {"set_iterator", IN_SET_ITERATOR, 2, 0},
    {"text_iterator", IN_TEXT_ITERATOR, 2, 0},
    {"bytes_iterator", IN_BYTES_ITERATOR, 2, 0},
    {NULL, 0, 0, 0},
};

const CodeRow output_rows[] = {
    {"fetched", OUT_FETCHED, 2, 0},
    {"again", OUT_AGAIN, 2, 0},
    {"const", OUT_CONST, 2, 0},
    {"tuple", OUT_TUPLE, 2, 0},
    {"int", OUT_INT, 2, 1},
    {"float", OUT_FLOAT, 2, 1},
    {"bool", OUT_BOOL, 2, 1},
    {"complex", OUT_COMPLEX, 2, 2},
    {"scalar", OUT_SCALAR, 3, 1},
    {"array", OUT_OBJECT, 2, 1},
    {"object", OUT_OBJECT, 2, 1},
    {"range", OUT_RANGE, 2, 3},
    {"range_iterator", OUT_RANGE_ITERATOR, 2, 4},
    {"advance", OUT_ADVANCE, 3, 1},
    {"sequence_iterator", OUT_SEQUENCE_ITERATOR, 3, 1},
    {"list_iterator", OUT_LIST_ITERATOR, 3, 1},
    {"text_iterator", OUT_LIST_ITERATOR, 3, 1},
    {"bytes_iterator", OUT_LIST_ITERATOR, 3, 1},
    {"reversed_iterator", OUT_REVERSED_ITERATOR, 3, 1},
    {"enumerate", OUT_ENUMERATE, 3, 1},
    {"zip", OUT_ZIP, 2, 0},
    {"map", OUT_MAP, 2, 0},
    {"filter", OUT_FILTER, 2, 0},
    {"function", OUT_FUNCTION, 2, 0},
    {"called", OUT_CALLED, 2, 0},
    {"instance", OUT_INSTANCE, 3, 0},
    {"kept_instance", OUT_KEPT_INSTANCE, 4, 1},
    {"changed_instance", OUT_CHANGED_INSTANCE, 4, 1},
    {"generator", OUT_GENERATOR, 3, 0},
    {"dict_keys", OUT_DICT_KEYS, 3, 3},
    {"dict_values", OUT_DICT_VALUES, 3, 3},
    {"dict_items", OUT_DICT_ITEMS, 3, 3},
    {"set_iterator", OUT_SET_ITERATOR, 3, 3},
    {"stepped", OUT_STEPPED, 3, 0},
    {"stepped_reversed", OUT_STEPPED_REVERSED, 3, 0},
    {"stepped_values", OUT_STEPPED_VALUES, 3, 0},
    {"stepped_items", OUT_STEPPED_ITEMS, 3, 0},
    {NULL, 0, 0, 0},
};

const CodeRow *
code_row(const CodeRow *rows, PyObject *code)
{
    if (PyTuple_Check(code) && PyTuple_GET_SIZE(code) > 0 && PyUnicode_Check(PyTuple_GET_ITEM(code, 0))) {
        for (const CodeRow *row = rows; row->name != NULL; row++) {
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(code, 0), row->name) == 0
                && PyTuple_GET_SIZE(code) == row->length) {
                return row;
            }
        }
    }
    PyErr_Format(PyExc_ValueError, "not an input or output code: %R", code);
    return NULL;
}

Py_ssize_t
code_integer(PyObject *code, Py_ssize_t index, Py_ssize_t low, Py_ssize_t high)
{
    Py_ssize_t value = PyNumber_AsSsize_t(PyTuple_GET_ITEM(code, index), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred()) {
        return -1;
    }
    if (value < low || value >= high) {
        PyErr_Format(PyExc_ValueError, "%zd is out of range in %R", value, code);
        return -1;
    }
    return value;
}
