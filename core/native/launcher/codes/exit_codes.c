/* Parser of a launcher's exits and their outputs; also visits and frees them. */
#include "launcher/codes/exit_codes.h"
#include "launcher/abi.h"
#include "launcher/codes/code_tables.h"
#include "launcher/codes/codes.h"
#include "launcher/generator_plans.h"

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

/* Whether an object is a tuple of `count` strings. */
static int
names_check(PyObject *names, Py_ssize_t count)
{
    if (!PyTuple_CheckExact(names) || PyTuple_GET_SIZE(names) != count) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(names, i))) {
            return 0;
        }
    }
    return 1;
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
    if (row->kind >= OUT_TUPLE && row->kind <= OUT_STEPPED_ITEMS) {
        if (outputs_parse(limits, PyTuple_GET_ITEM(code, 1), &output->items, &output->count) < 0) {
            return -1;
        }
        if (row->kind > OUT_GENERATOR && output->count != 1) {
            PyErr_Format(PyExc_ValueError, "an iterator is made of one output: %R", code);
            return -1;
        }
    }
    if (row->kind >= OUT_STEPPED && row->kind <= OUT_STEPPED_ITEMS) {
        output->steps = code_integer(code, 2, 0, PY_SSIZE_T_MAX);
        return output->steps < 0 ? -1 : 0;
    }
    if (row->kind == OUT_GENERATOR && !plan_check(PyTuple_GET_ITEM(code, 2))) {
        PyErr_Format(PyExc_ValueError, "not how a generator waits: %R", code);
        return -1;
    }
    if ((row->kind == OUT_FUNCTION && output->count < 2) || (row->kind == OUT_GENERATOR && output->count < 1)) {
        PyErr_Format(PyExc_ValueError, "it is made of too few outputs: %R", code);
        return -1;
    }
    if (row->kind == OUT_GENERATOR) {
        output->object = PyTuple_GET_ITEM(code, 2);
        Py_INCREF(output->object);
        return 0;
    }
    if (row->kind >= OUT_INSTANCE && row->kind <= OUT_CHANGED_INSTANCE) {
        if (!names_check(PyTuple_GET_ITEM(code, 2), output->count - 1)) {
            PyErr_Format(PyExc_ValueError, "not the names of its attributes: %R", code);
            return -1;
        }
        output->object = PyTuple_GET_ITEM(code, 2);
        Py_INCREF(output->object);
    }
    if (row->kind == OUT_AGAIN) {
        output->input = code_integer(code, 1, 0, PY_SSIZE_T_MAX);
        return output->input < 0 ? -1 : 0;
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
        PyObject *dtype = PyTuple_GET_ITEM(code, 2); /* borrowed */
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
        output->word = code_integer(code, row->length - (row->kind == OUT_SCALAR ? 2 : 1), FIRST_INPUT_WORD,
                                    limits->words - words + 1);
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

/* The number that answers have for exit `index`: a new reference, or NULL with an exception set. */
static PyObject *
exit_number(PyObject *numbers, Py_ssize_t index)
{
    if (numbers == Py_None) {
        return PyLong_FromSsize_t(index);
    }
    PyObject *number = PyTuple_GET_ITEM(numbers, index); /* borrowed, then the result */
    if (number == Py_None) { /* linked code of CPython 3.11 and later tests for None to recognise the usual exit */
        Py_INCREF(number);
        return number;
    }
    int overflow = 0;
    long long word = PyLong_Check(number) ? PyLong_AsLongLongAndOverflow(number, &overflow) : -1;
    if (overflow < 0 || (overflow == 0 && word < 0)) {
        PyErr_Format(PyExc_ValueError, "exit %zd has the number %R, not None or an int from 0 on", index, number);
        return NULL;
    }
    Py_INCREF(number);
    return number;
}

int
exits_parse(const CodeLimits *limits, PyObject *codes, PyObject *numbers, Exit **exits, Py_ssize_t *nexits)
{
    if (numbers != Py_None && (!PyTuple_Check(numbers) || PyTuple_GET_SIZE(numbers) != PyTuple_GET_SIZE(codes))) {
        PyErr_Format(PyExc_ValueError, "numbers must be None or a tuple of %zd ints, got %R", PyTuple_GET_SIZE(codes),
                     numbers);
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

int
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

int
held_set(PyObject *held, Exit *exits, Py_ssize_t nexits)
{
    if (held == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(held) || PyTuple_GET_SIZE(held) != nexits) {
        PyErr_Format(PyExc_ValueError, "held must be None or a tuple of %zd ints or None, got %R", nexits, held);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nexits; i++) {
        if (PyTuple_GET_ITEM(held, i) != Py_None) {
            exits[i].held = exit_number(held, i);
            if (exits[i].held == NULL) {
                return -1;
            }
        }
    }
    return 0;
}

int
iterations_set(PyObject *iterations, Exit *exits, Py_ssize_t nexits)
{
    if (iterations != Py_None && (!PyTuple_Check(iterations) || PyTuple_GET_SIZE(iterations) != nexits)) {
        PyErr_Format(PyExc_ValueError, "iterations must be None or a tuple of %zd ints or None, got %R", nexits, iterations);
        return -1;
    }
    for (Py_ssize_t i = 0; i < nexits; i++) {
        exits[i].iterations = -1;
        if (iterations != Py_None && PyTuple_GET_ITEM(iterations, i) != Py_None) {
            exits[i].iterations = code_integer(iterations, i, 0, exits[i].count);
            if (exits[i].iterations < 0) {
                return -1;
            }
        }
    }
    return 0;
}

int
exits_mark(PyObject *polls, PyObject *returns, PyObject *bare, Exit *exits, Py_ssize_t nexits)
{
    PyObject *const marks[] = {polls, returns, bare};
    for (int mark = 0; mark < 3; mark++) {
        if (marks[mark] == Py_None) {
            continue;
        }
        if (!PyTuple_Check(marks[mark])) {
            PyErr_Format(PyExc_TypeError, "polls, returns and bare must be None or a tuple of exit ids, got %R", marks[mark]);
            return -1;
        }
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(marks[mark]); i++) {
            Py_ssize_t id = code_integer(marks[mark], i, 0, nexits);
            if (id < 0) {
                return -1;
            }
            *(mark == 0 ? &exits[id].poll : mark == 1 ? &exits[id].returns : &exits[id].bare) = 1;
            if (exits[id].returns && exits[id].count == 0) {
                PyErr_Format(PyExc_ValueError, "exit %zd returns, but has no value", id);
                return -1;
            }
            if (exits[id].bare && exits[id].count != 1) {
                PyErr_Format(PyExc_ValueError, "exit %zd has %zd values, not one", id, exits[id].count);
                return -1;
            }
        }
    }
    return 0;
}

PyObject *
exits_count(const Exit *exits, Py_ssize_t nexits)
{
    PyObject *counts = PyTuple_New(nexits); /* new: the result */
    for (Py_ssize_t i = 0; counts != NULL && i < nexits; i++) {
        PyObject *count = PyLong_FromLongLong(exits[i].taken); /* moved into the tuple */
        if (count == NULL) {
            Py_CLEAR(counts);
            break;
        }
        PyTuple_SET_ITEM(counts, i, count);
    }
    return counts;
}

void
exits_free(Exit *exits, Py_ssize_t nexits)
{
    for (Py_ssize_t i = 0; exits != NULL && i < nexits; i++) {
        outputs_free(exits[i].items, exits[i].count);
        Py_XDECREF(exits[i].id);
        Py_XDECREF(exits[i].held);
    }
    PyMem_Free(exits);
}
