/* The input and output codes of a launcher, parsed once from tuples into flat structs.
 *
 * Part of launcher.c, apart for its size. An Input says how a fetched object becomes frame words; an Output
 * says how a result object is made, from frame words (native kernels) or from the next object of the
 * kernel's answer (Python kernels). marshal.h runs them. Parsing checks every index and word, so that
 * running them need not. */
#ifndef PIJIT_CODES_H
#define PIJIT_CODES_H

#include "launcher.h"

#define FIRST_INPUT_WORD 2

typedef enum {
    IN_SKIP, IN_ARRAY, IN_INT, IN_FLOAT, IN_BOOL, IN_COMPLEX, IN_SCALAR, IN_OBJECT,
    /* What an iterator iterates, and iterators. */
    IN_TYPED_ARRAY, IN_RANGE_ITERATOR, IN_SEQUENCE_ITERATOR, IN_REVERSED_ITERATOR, IN_ENUMERATE, IN_ZIP
} InputKind;

typedef struct Input {
    InputKind kind;
    int ndim;
    int typenum;
    int mask, flags;            /* IN_TYPED_ARRAY: what the array's flags must be */
    PyTypeObject *type;         /* borrowed: static types of NumPy's scalars and of Python's iterators */
    Py_ssize_t count;           /* iterators: how many they iterate */
    struct Input *items;        /* iterators: owned */
} Input;

typedef enum {
    /* Known without the kernel. */
    OUT_FETCHED, OUT_CONST,
    /* Made of other outputs. */
    OUT_TUPLE, OUT_SEQUENCE_ITERATOR, OUT_REVERSED_ITERATOR, OUT_ENUMERATE, OUT_ZIP, OUT_STEPPED, OUT_STEPPED_REVERSED,
    /* Kernel values. */
    OUT_INT, OUT_FLOAT, OUT_BOOL, OUT_COMPLEX, OUT_SCALAR, OUT_OBJECT, OUT_RANGE, OUT_RANGE_ITERATOR, OUT_ADVANCE
} OutputKind;

typedef struct Output {
    OutputKind kind;
    int typenum;                /* OUT_SCALAR */
    Py_ssize_t word;            /* the first frame word */
    Py_ssize_t input;           /* OUT_FETCHED, OUT_ADVANCE */
    PyObject *object;           /* owned: the constant, or the scalar's type */
    const Input *moved;         /* OUT_ADVANCE: borrowed from the launcher */
    Py_ssize_t steps;           /* OUT_STEPPED and its reverse; OUT_ADVANCE: the words that move */
    Py_ssize_t count;           /* of what it is made of */
    struct Output *items;       /* owned */
} Output;

/* One exit: its outputs and how often it was taken. */
typedef struct {
    Py_ssize_t count;
    Output *items;              /* owned */
    PyObject *id;               /* owned: the number that the answer starts with */
    long long taken;
    int poll;                   /* the kernel left because the interpreter has something to do */
} Exit;

/* What the output codes of a launcher may refer to. */
typedef struct {
    const Input *inputs;
    Py_ssize_t ninputs;
    Py_ssize_t words;
    Py_ssize_t width;
} CodeLimits;

static inline Py_ssize_t
input_words(const Input *input)
{
    Py_ssize_t words = 1;

    switch (input->kind) {
    case IN_SKIP: return 0;
    case IN_ARRAY:
    case IN_TYPED_ARRAY: return 2 + 2 * (Py_ssize_t)input->ndim;
    case IN_COMPLEX: return 2;
    case IN_SCALAR: return scalar_is_complex(input->typenum) ? 2 : 1;
    case IN_RANGE_ITERATOR: return 4;
    case IN_ZIP: words = 0;  /* fall through */
    case IN_SEQUENCE_ITERATOR:
    case IN_REVERSED_ITERATOR:
    case IN_ENUMERATE:
        for (Py_ssize_t i = 0; i < input->count; i++) {
            words += input_words(&input->items[i]);
        }
        return words;
    default: return 1;
    }
}

/* How many words of an iterator move when it is stepped. */
static inline Py_ssize_t
moving_words(const Input *input)
{
    Py_ssize_t words = input->kind != IN_ZIP;
    for (Py_ssize_t i = 0; i < input->count; i++) {
        words += input->items[i].kind == IN_TYPED_ARRAY ? 0 : moving_words(&input->items[i]);
    }
    return words;
}

typedef struct {
    const char *name;
    int kind;
    Py_ssize_t length;          /* of the code tuple */
    Py_ssize_t words;           /* that an output reads; 0 for those that read none */
} CodeRow;

static const CodeRow input_rows[] = {
    {"skip", IN_SKIP, 1, 0}, {"array", IN_ARRAY, 2, 0}, {"int", IN_INT, 1, 0}, {"float", IN_FLOAT, 1, 0},
    {"bool", IN_BOOL, 1, 0}, {"complex", IN_COMPLEX, 1, 0}, {"scalar", IN_SCALAR, 2, 0},
    {"object", IN_OBJECT, 1, 0}, {"typed_array", IN_TYPED_ARRAY, 5, 0},
    {"range_iterator", IN_RANGE_ITERATOR, 1, 0}, {"sequence_iterator", IN_SEQUENCE_ITERATOR, 2, 0},
    {"reversed_iterator", IN_REVERSED_ITERATOR, 2, 0}, {"enumerate", IN_ENUMERATE, 2, 0}, {"zip", IN_ZIP, 2, 0},
    {NULL, 0, 0, 0},
};

static const CodeRow output_rows[] = {
    {"fetched", OUT_FETCHED, 2, 0}, {"const", OUT_CONST, 2, 0}, {"tuple", OUT_TUPLE, 2, 0},
    {"int", OUT_INT, 2, 1}, {"float", OUT_FLOAT, 2, 1}, {"bool", OUT_BOOL, 2, 1}, {"complex", OUT_COMPLEX, 2, 2},
    {"scalar", OUT_SCALAR, 3, 1}, {"array", OUT_OBJECT, 2, 1}, {"object", OUT_OBJECT, 2, 1},
    {"range", OUT_RANGE, 2, 3}, {"range_iterator", OUT_RANGE_ITERATOR, 2, 4}, {"advance", OUT_ADVANCE, 3, 1},
    {"sequence_iterator", OUT_SEQUENCE_ITERATOR, 3, 1}, {"reversed_iterator", OUT_REVERSED_ITERATOR, 3, 1},
    {"enumerate", OUT_ENUMERATE, 3, 1}, {"zip", OUT_ZIP, 2, 0},
    {"stepped", OUT_STEPPED, 3, 0}, {"stepped_reversed", OUT_STEPPED_REVERSED, 3, 0},
    {NULL, 0, 0, 0},
};

/* The row that a code tuple names, its length checked; NULL with ValueError set. */
static const CodeRow *
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

/* The item of a code tuple as an integer in [low, high); -1 with an exception set. */
static Py_ssize_t
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

static int input_parse(Input *input, PyObject *code);

static void
inputs_free(Input *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
        inputs_free(items[i].items, items[i].count);
    }
    PyMem_Free(items);
}

/* ("typed_array", type number, ndim, layout letter, writeable) */
static int
typed_array_parse(Input *input, PyObject *code)
{
    Py_ssize_t typenum = code_integer(code, 1, 0, NPY_VOID);
    Py_ssize_t ndim = code_integer(code, 2, 1, NPY_MAXDIMS + 1);
    PyObject *layout = PyTuple_GET_ITEM(code, 3);  /* borrowed */
    if (typenum < 0 || ndim < 0) {
        return -1;
    }
    if (!PyUnicode_Check(layout) || PyUnicode_GET_LENGTH(layout) != 1) {
        PyErr_Format(PyExc_ValueError, "not a layout: %R", code);
        return -1;
    }
    int contiguous = PyUnicode_READ_CHAR(layout, 0) == 'C' ? NPY_ARRAY_C_CONTIGUOUS : 0;
    int mask = contiguous;
    if (PyUnicode_READ_CHAR(layout, 0) == 'F') {
        contiguous = NPY_ARRAY_F_CONTIGUOUS;
        mask = NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS;
    }
    int always = NPY_ARRAY_ALIGNED | (PyTuple_GET_ITEM(code, 4) == Py_True ? NPY_ARRAY_WRITEABLE : 0);
    input->typenum = (int)typenum;
    input->ndim = (int)ndim;
    input->mask = mask | always;
    input->flags = contiguous | always;
    return 0;
}

/* What the parts of an iterator code must be: arrays, or iterators. */
static int
part_fits(InputKind iterator, const Input *part)
{
    if (iterator == IN_SEQUENCE_ITERATOR || iterator == IN_REVERSED_ITERATOR) {
        return part->kind == IN_TYPED_ARRAY;
    }
    return part->kind >= IN_RANGE_ITERATOR;
}

/* (kind, codes of what it iterates): a zip any number, the others one */
static int
iterator_parse(Input *input, PyObject *code)
{
    static PyTypeObject *const types[] = {&PyRangeIter_Type, &PySeqIter_Type, &PyReversed_Type, &PyEnum_Type,
                                          &PyZip_Type};
    input->type = types[input->kind - IN_RANGE_ITERATOR];
    if (input->kind == IN_RANGE_ITERATOR) {
        return 0;
    }
    PyObject *codes = PyTuple_GET_ITEM(code, 1);  /* borrowed */
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
        PyObject *type = PyArray_TypeObjectFromType(input->typenum);  /* owned; NumPy's types are static */
        if (type == NULL) {
            return -1;
        }
        input->type = (PyTypeObject *)type;
        Py_DECREF(type);
    }
    input->ndim = (int)value;
    return 0;
}

static void
outputs_free(Output *items, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; items != NULL && i < count; i++) {
        Py_XDECREF(items[i].object);
        outputs_free(items[i].items, items[i].count);
    }
    PyMem_Free(items);
}

static int
outputs_visit(const Output *items, Py_ssize_t count, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_VISIT(items[i].object);
        int status = outputs_visit(items[i].items, items[i].count, visit, arg);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

static int outputs_parse(const CodeLimits *limits, PyObject *codes, Output **items, Py_ssize_t *count);

static int
output_parse(const CodeLimits *limits, Output *output, PyObject *code)
{
    const CodeRow *row = code_row(output_rows, code);
    if (row == NULL) {
        return -1;
    }
    output->kind = row->kind;
    if (row->kind >= OUT_TUPLE && row->kind <= OUT_STEPPED_REVERSED) {
        if (outputs_parse(limits, PyTuple_GET_ITEM(code, 1), &output->items, &output->count) < 0) {
            return -1;
        }
        if (row->kind != OUT_TUPLE && row->kind != OUT_ZIP && output->count != 1) {
            PyErr_Format(PyExc_ValueError, "an iterator is made of one output: %R", code);
            return -1;
        }
    }
    if (row->kind == OUT_STEPPED || row->kind == OUT_STEPPED_REVERSED) {
        output->steps = code_integer(code, 2, 0, PY_SSIZE_T_MAX);
        return output->steps < 0 ? -1 : 0;
    }
    if (row->kind == OUT_CONST) {
        output->object = PyTuple_GET_ITEM(code, 1);
        Py_INCREF(output->object);
        return 0;
    }
    if (row->kind == OUT_FETCHED || row->kind == OUT_ADVANCE) {
        output->input = code_integer(code, 1, 0, limits->ninputs);
        if (output->input < 0) {
            return -1;
        }
    }
    Py_ssize_t words = row->words;
    if (row->kind == OUT_ADVANCE) {
        if (limits->inputs[output->input].kind < IN_RANGE_ITERATOR) {
            PyErr_Format(PyExc_ValueError, "not an iterator input: %R", code);
            return -1;
        }
        output->moved = &limits->inputs[output->input];
        output->steps = words = moving_words(output->moved);
    }
    if (row->kind == OUT_SCALAR) {
        PyObject *dtype = PyTuple_GET_ITEM(code, 2);  /* borrowed */
        output->typenum = PyArray_DescrCheck(dtype) ? ((PyArray_Descr *)dtype)->type_num : NPY_NOTYPE;
        if (scalar_size(output->typenum) == 0) {
            PyErr_Format(PyExc_ValueError, "scalars of this dtype do not fit frame words: %R", code);
            return -1;
        }
        output->object = (PyObject *)((PyArray_Descr *)dtype)->typeobj;
        Py_INCREF(output->object);
        words += scalar_is_complex(output->typenum);
    }
    if (words > 0) {
        output->word = code_integer(code, row->length - (row->kind == OUT_SCALAR ? 2 : 1), FIRST_INPUT_WORD, limits->words - words + 1);
        return output->word < 0 ? -1 : 0;
    }
    return 0;
}

static int
outputs_parse(const CodeLimits *limits, PyObject *codes, Output **items, Py_ssize_t *count)
{
    if (!PyTuple_Check(codes)) {
        PyErr_Format(PyExc_TypeError, "output codes must be a tuple, got %R", codes);
        return -1;
    }
    *items = PyMem_Calloc(PyTuple_GET_SIZE(codes) + 1, sizeof(Output));
    if (*items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *count = PyTuple_GET_SIZE(codes);
    for (Py_ssize_t i = 0; i < *count; i++) {
        if (output_parse(limits, &(*items)[i], PyTuple_GET_ITEM(codes, i)) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Parses the input codes; the word behind the last input, or -1 with an exception set. */
static Py_ssize_t
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
        words += input_words(&(*inputs)[i]);
    }
    return words;
}

/* The number that answers report for exit `index`: a new reference, or NULL with an exception set. */
static PyObject *
exit_number(PyObject *numbers, Py_ssize_t index)
{
    if (numbers == Py_None) {
        return PyLong_FromSsize_t(index);
    }
    PyObject *number = PyTuple_GET_ITEM(numbers, index);  /* borrowed, then the result */
    if (!PyLong_Check(number) || Py_SIZE(number) < 0) {
        PyErr_Format(PyExc_ValueError, "exit %zd has the number %R, not an int from 0 on", index, number);
        return NULL;
    }
    Py_INCREF(number);
    return number;
}

static int
exits_parse(const CodeLimits *limits, PyObject *codes, PyObject *numbers, Exit **exits, Py_ssize_t *nexits)
{
    if (numbers != Py_None && (!PyTuple_Check(numbers) || PyTuple_GET_SIZE(numbers) != PyTuple_GET_SIZE(codes))) {
        PyErr_Format(PyExc_ValueError, "numbers must be None or a tuple of %zd ints, got %R",
                     PyTuple_GET_SIZE(codes), numbers);
        return -1;
    }
    *exits = PyMem_Calloc(PyTuple_GET_SIZE(codes) + 1, sizeof(Exit));
    if (*exits == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *nexits = PyTuple_GET_SIZE(codes);
    for (Py_ssize_t i = 0; i < *nexits; i++) {
        Exit *exit = &(*exits)[i];
        if (outputs_parse(limits, PyTuple_GET_ITEM(codes, i), &exit->items, &exit->count) < 0) {
            return -1;
        }
        if (exit->count > limits->width) {
            PyErr_Format(PyExc_ValueError, "exit %zd has %zd values, the width is %zd", i, exit->count, limits->width);
            return -1;
        }
        exit->id = exit_number(numbers, i);
        if (exit->id == NULL) {
            return -1;
        }
    }
    return 0;
}

static int
exits_visit(const Exit *exits, Py_ssize_t nexits, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < nexits; i++) {
        int status = outputs_visit(exits[i].items, exits[i].count, visit, arg);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* Marks the exits that `polls`, a tuple of exit ids or None, names; 0, or -1 with an exception set. */
static int
polls_mark(PyObject *polls, Exit *exits, Py_ssize_t nexits)
{
    if (polls == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(polls)) {
        PyErr_Format(PyExc_TypeError, "polls must be None or a tuple of exit ids, got %R", polls);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(polls); i++) {
        Py_ssize_t id = code_integer(polls, i, 0, nexits);
        if (id < 0) {
            return -1;
        }
        exits[id].poll = 1;
    }
    return 0;
}

/* A tuple of how often each exit was taken: new reference. */
static PyObject *
exits_count(const Exit *exits, Py_ssize_t nexits)
{
    PyObject *counts = PyTuple_New(nexits);  /* new: the result */
    for (Py_ssize_t i = 0; counts != NULL && i < nexits; i++) {
        PyObject *count = PyLong_FromLongLong(exits[i].taken);  /* moved into the tuple */
        if (count == NULL) {
            Py_CLEAR(counts);
            break;
        }
        PyTuple_SET_ITEM(counts, i, count);
    }
    return counts;
}

static void
exits_free(Exit *exits, Py_ssize_t nexits)
{
    for (Py_ssize_t i = 0; exits != NULL && i < nexits; i++) {
        outputs_free(exits[i].items, exits[i].count);
        Py_XDECREF(exits[i].id);
    }
    PyMem_Free(exits);
}

#endif
