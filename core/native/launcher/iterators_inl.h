/* Python's iterators as frame words: read, moved and built.
 *
 * Part of launch.c, included by marshal_inl.h. The structs are those of CPython 3.7 to 3.13, which no header declares.
 * iterators_check() must compare them with real iterators before any other function is used. */
#ifndef PIJIT_LAUNCHER_ITERATORS_INL_H
#define PIJIT_LAUNCHER_ITERATORS_INL_H

#include "cpython/dict_iterator_inl.h"
#include "launcher/codes/codes.h"
#include <stddef.h>

#if PY_VERSION_HEX >= 0x030E0000
#error "the layout of iterators: nobody has looked at this version of CPython"
#endif

#if PY_VERSION_HEX < 0x030C0000
#include "cpython/range_iterator_37_311_inl.h"
#else
#include "cpython/range_iterator_312_inl.h"
#endif

/* The iterator that iter() makes for a list, a string, bytes or an object without __iter__, or that reversed()
 * makes. */
typedef struct {
    PyObject_HEAD
    Py_ssize_t index;
    PyObject *sequence; /* NULL when it has ended */
} SequenceIterator;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    PyObject *inner;
} Enumerate;

typedef struct {
    PyObject_HEAD
    Py_ssize_t size;
    PyObject *inners; /* a tuple */
    PyObject *result;
#if PY_VERSION_HEX >= 0x030A0000
    int strict;
#endif
} Zip;

#define LARGEST_COUNT ((Py_ssize_t)1 << 62)

static int
zip_is_strict(PyObject *object)
{
#if PY_VERSION_HEX >= 0x030A0000
    return ((Zip *)object)->strict;
#else
    return 0;
#endif
}

/* ---- reading ---- */

static inline int input_load(const Input *input, PyObject *object, int64_t *words);

static int
typed_array_load(const Input *input, PyObject *object, int64_t *words)
{
    if (!PyArray_CheckExact(object) || PyArray_NDIM((PyArrayObject *)object) != input->ndim) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_TYPE(array) != input->typenum || (PyArray_FLAGS(array) & input->mask) != input->flags
        || !PyArray_ISNOTSWAPPED(array)) {
        return 0;
    }
    words[DESC_DATA] = (int64_t)PyArray_DATA(array);
    words[DESC_OBJECT] = (int64_t)object;
    for (int axis = 0; axis < input->ndim; axis++) {
        words[DESC_SHAPE + axis] = PyArray_DIM(array, axis);
        words[DESC_SHAPE + input->ndim + axis] = PyArray_STRIDE(array, axis);
    }
    return 1;
}

/* Read the words of an iterator; 0 if it does not match the code, or has ended. */
static int
iterator_load(const Input *input, PyObject *object, int64_t *words)
{
    if (Py_TYPE(object) != input->type) {
        return 0;
    }
    if (input->kind == IN_RANGE_ITERATOR) {
        range_iterator_read((const RangeIterator *)object, words);
        return 1;
    }
    if (input->kind == IN_ZIP) {
        const Zip *zip = (const Zip *)object;
        if (zip->size != input->count || zip_is_strict(object)) {
            return 0;
        }
        for (Py_ssize_t i = 0; i < input->count; i++) {
            if (!input_load(&input->items[i], PyTuple_GET_ITEM(zip->inners, i), words)) {
                return 0;
            }
            words += input_words(&input->items[i]);
        }
        return 1;
    }
    if (input->kind == IN_ENUMERATE) {
        const Enumerate *iterator = (const Enumerate *)object;
        words[0] = iterator->count;
        return iterator->count < LARGEST_COUNT && input_load(input->items, iterator->inner, words + 1);
    }
    if (input->kind == IN_SET_ITERATOR) {
        const SetIterator *iterator = (const SetIterator *)object;
        words[0] = iterator->position;
        words[1] = iterator->left;
        words[2] = iterator->used;
        return iterator->set != NULL && PyAnySet_CheckExact(iterator->set)
               && input_load(input->items, iterator->set, words + 3);
    }
    if (input->kind >= IN_DICT_KEYS) {
        const DictIterator *iterator = (const DictIterator *)object;
        words[0] = iterator->position;
        words[1] = iterator->left;
        words[2] = iterator->used;
        return iterator->dict != NULL && PyDict_Check(iterator->dict) && input_load(input->items, iterator->dict, words + 3);
    }
    const SequenceIterator *iterator = (const SequenceIterator *)object;
    words[0] = iterator->index;
    if (iterator->sequence == NULL || !input_load(input->items, iterator->sequence, words + 1)) {
        return 0;
    }
    switch (input->kind) {
    case IN_LIST_ITERATOR: return PyList_CheckExact(iterator->sequence);
    case IN_TEXT_ITERATOR: return PyUnicode_CheckExact(iterator->sequence);
    case IN_BYTES_ITERATOR: return PyBytes_CheckExact(iterator->sequence);
    default: break;
    }
    return input->kind == IN_SEQUENCE_ITERATOR || words[0] < words[1 + DESC_SHAPE];
}

/* ---- moving ---- */

/* Set the words of an iterator that change; returns the word after them. */
static const int64_t *
iterator_move(const Input *input, PyObject *object, const int64_t *words)
{
    switch (input->kind) {
    case IN_RANGE_ITERATOR: range_iterator_move((RangeIterator *)object, words[0]); return words + 1;
    case IN_SEQUENCE_ITERATOR:
    case IN_LIST_ITERATOR:
    case IN_TEXT_ITERATOR:
    case IN_BYTES_ITERATOR:
    case IN_REVERSED_ITERATOR: ((SequenceIterator *)object)->index = words[0]; return words + 1;
    case IN_DICT_KEYS:
    case IN_DICT_VALUES:
    case IN_DICT_ITEMS:
        ((DictIterator *)object)->position = words[0];
        ((DictIterator *)object)->left = words[1];
        return words + 2;
    case IN_SET_ITERATOR:
        ((SetIterator *)object)->position = words[0];
        ((SetIterator *)object)->left = words[1];
        return words + 2;
    case IN_ENUMERATE:
        ((Enumerate *)object)->count = words[0];
        return iterator_move(input->items, ((Enumerate *)object)->inner, words + 1);
    default:
        for (Py_ssize_t i = 0; i < input->count; i++) {
            words = iterator_move(&input->items[i], PyTuple_GET_ITEM(((Zip *)object)->inners, i), words);
        }
        return words;
    }
}

/* ---- making: each returns a new reference, or NULL with an exception set ---- */

static PyObject *
range_build(const int64_t *words)
{
    PyObject *range = NULL; /* new: the result */
    PyObject *arguments = Py_BuildValue("(LLL)", (long long)words[0], (long long)words[1], (long long)words[2]);
    if (arguments != NULL) {
        range = PyObject_Call((PyObject *)&PyRange_Type, arguments, NULL);
        Py_DECREF(arguments);
    }
    return range;
}

static PyObject *
range_iterator_build(const int64_t *words)
{
    static const int64_t empty[3] = {0, 0, 1};
    PyObject *range = range_build(empty); /* owned */
    if (range == NULL) {
        return NULL;
    }
    PyObject *object = PyObject_GetIter(range); /* new: the result */
    Py_DECREF(range);
    if (object != NULL) {
        range_iterator_set((RangeIterator *)object, words);
    }
    return object;
}

/* The iterator that iter() or reversed() makes for a sequence, set to an index. */
static PyObject *
sequence_iterator_build(PyObject *sequence, int kind, int64_t index)
{
    PyObject *iterator; /* new: the result */
    switch (kind) {
    case OUT_REVERSED_ITERATOR: iterator = PyObject_CallFunctionObjArgs((PyObject *)&PyReversed_Type, sequence, NULL); break;
    case OUT_LIST_ITERATOR: iterator = PyObject_GetIter(sequence); break;
    default: iterator = PySeqIter_New(sequence); break;
    }
    if (iterator == NULL) {
        return NULL;
    }
    PyObject *none = PyObject_CallMethod(iterator, "__setstate__", "L", (long long)index); /* owned */
    if (none == NULL) {
        Py_DECREF(iterator);
        return NULL;
    }
    Py_DECREF(none);
    return iterator;
}

/* The iterator over values() or items() of a dict. */
static PyObject *
view_iterator_build(PyObject *dict, const char *name)
{
    PyObject *view = PyObject_CallMethod(dict, name, NULL);            /* owned */
    PyObject *iterator = view == NULL ? NULL : PyObject_GetIter(view); /* new: the result */
    Py_XDECREF(view);
    return iterator;
}

/* An iterator over a dict or a view of it, set to a position. */
static PyObject *
dict_iterator_build(PyObject *dict, int kind, const int64_t *words)
{
    PyObject *object = kind == OUT_DICT_KEYS ? PyObject_GetIter(dict) /* new: the result */
                                             : view_iterator_build(dict, kind == OUT_DICT_VALUES ? "values" : "items");
    if (object != NULL) {
        DictIterator *iterator = (DictIterator *)object;
        iterator->position = (Py_ssize_t)words[0];
        iterator->left = (Py_ssize_t)words[1];
        iterator->used = (Py_ssize_t)words[2];
    }
    return object;
}

/* An iterator over a set, set to a position. */
static PyObject *
set_iterator_build(PyObject *set, const int64_t *words)
{
    PyObject *object = PyObject_GetIter(set); /* new: the result */
    if (object != NULL) {
        SetIterator *iterator = (SetIterator *)object;
        iterator->position = (Py_ssize_t)words[0];
        iterator->left = (Py_ssize_t)words[1];
        iterator->used = (Py_ssize_t)words[2];
    }
    return object;
}

/* An iterator from iter() or reversed() of an object, or from iter() of a view of a dict, after `steps` steps. */
static PyObject *
stepped_build(PyObject *object, int kind, Py_ssize_t steps)
{
    PyObject *iterator; /* new: the result */
    switch (kind) {
    case OUT_STEPPED_REVERSED: iterator = PyObject_CallFunctionObjArgs((PyObject *)&PyReversed_Type, object, NULL); break;
    case OUT_STEPPED_VALUES: iterator = view_iterator_build(object, "values"); break;
    case OUT_STEPPED_ITEMS: iterator = view_iterator_build(object, "items"); break;
    default: iterator = PyObject_GetIter(object); break;
    }
    for (Py_ssize_t i = 0; iterator != NULL && i < steps; i++) {
        PyObject *item = PyIter_Next(iterator); /* owned */
        if (item == NULL && PyErr_Occurred()) {
            Py_CLEAR(iterator);
        }
        Py_XDECREF(item);
    }
    return iterator;
}

/* ---- checks of the structs against real iterators ---- */

/* `object`, which is stolen and may be NULL; NULL with an exception set if it is smaller than its struct. */
static PyObject *
large_enough(PyObject *object, size_t size)
{
    if (object != NULL && Py_TYPE(object)->tp_basicsize < (Py_ssize_t)size) {
        PyErr_Format(PyExc_ImportError, "a %s has an unknown layout", Py_TYPE(object)->tp_name);
        Py_CLEAR(object);
    }
    return object;
}

/* 0, or -1 with an exception set if iterators over dicts do not match DictIterator. */
static int
dict_iterators_check(void)
{
    PyObject *dict = Py_BuildValue("{i:i,i:i}", 1, 2, 3, 4);                                           /* owned */
    PyObject *over = dict == NULL ? NULL : large_enough(PyObject_GetIter(dict), sizeof(DictIterator)); /* owned */
    PyObject *step = over == NULL ? NULL : PyIter_Next(over);                                          /* owned */
    const DictIterator *iterator = (const DictIterator *)over;
    int known = step != NULL && iterator->dict == dict && iterator->used == 2 && iterator->position == 1
                && iterator->left == 1;
    if (!known && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ImportError, "the iterators of this interpreter's dicts have an unknown layout");
    }
    Py_XDECREF(step);
    Py_XDECREF(over);
    Py_XDECREF(dict);
    return known ? 0 : -1;
}

/* The same for iterators over sets. */
static int
set_iterators_check(void)
{
    PyObject *set = PySet_New(NULL), *one = PyLong_FromLong(1); /* owned */
    int known = set != NULL && one != NULL && PySet_Add(set, one) == 0;
    PyObject *over = known ? large_enough(PyObject_GetIter(set), sizeof(SetIterator)) : NULL; /* owned */
    PyObject *step = over == NULL ? NULL : PyIter_Next(over);                                 /* owned */
    const SetIterator *iterator = (const SetIterator *)over;
    known = step != NULL && iterator->set == set && iterator->used == 1 && iterator->position == 2 && iterator->left == 0
            && ((PySetObject *)set)->used == 1 && offsetof(PySetObject, used) == sizeof(PyObject) + sizeof(Py_ssize_t);
    if (!known && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ImportError, "the iterators of this interpreter's sets have an unknown layout");
    }
    Py_XDECREF(step);
    Py_XDECREF(over);
    Py_XDECREF(one);
    Py_XDECREF(set);
    return known ? 0 : -1;
}

/* Whether iter() of a sequence, which is stolen and may be NULL, returns a SequenceIterator; -1 with an exception
 * set. */
static int
is_sequence_iterated(PyObject *sequence)
{
    PyObject *over = sequence == NULL ? NULL : large_enough(PyObject_GetIter(sequence), sizeof(SequenceIterator)); /* owned */
    int alike = over == NULL ? -1 : ((SequenceIterator *)over)->index == 0 && ((SequenceIterator *)over)->sequence == sequence;
    Py_XDECREF(over);
    Py_XDECREF(sequence);
    return alike;
}

/* The same for iterators over ranges. */
static int
range_iterators_check(void)
{
    PyObject *range = PyObject_CallFunction((PyObject *)&PyRange_Type, "iii", 5, 50, 7);                  /* owned */
    PyObject *over = range == NULL ? NULL : large_enough(PyObject_GetIter(range), sizeof(RangeIterator)); /* owned */
    PyObject *step = over == NULL ? NULL : PyIter_Next(over);                                             /* owned */
    int64_t words[4];
    int known = 0;
    if (step != NULL) {
        range_iterator_read((const RangeIterator *)over, words);
        known = words[1] + words[0] * words[2] == 12 && words[2] == 7 && words[3] - words[0] == 6;
    }
    if (!known && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_ImportError, "the iterators of this interpreter's ranges have an unknown layout");
    }
    Py_XDECREF(step);
    Py_XDECREF(over);
    Py_XDECREF(range);
    return known ? 0 : -1;
}

/* 0, or -1 with an exception set if this interpreter's iterators do not match the structs above. */
static int
iterators_check(void)
{
    if (dict_iterators_check() < 0 || set_iterators_check() < 0 || range_iterators_check() < 0) {
        return -1;
    }
    PyObject *pair = Py_BuildValue("(ii)", 1, 2);                                  /* owned */
    PyObject *forth = large_enough(PySeqIter_New(pair), sizeof(SequenceIterator)); /* owned */
    PyObject *back = large_enough(PyObject_CallFunctionObjArgs((PyObject *)&PyReversed_Type, pair, NULL),
                                  sizeof(SequenceIterator)); /* owned */
    PyObject *counted = NULL, *zipped = NULL, *state = NULL; /* owned */
    int lists = is_sequence_iterated(PyList_New(0)), texts = is_sequence_iterated(PyUnicode_FromString("text"));
    int bytes = is_sequence_iterated(PyBytes_FromString("bytes"));
    int status = -1;

    if (pair == NULL || forth == NULL || back == NULL || lists < 0 || texts < 0 || bytes < 0) {
        goto error;
    }
    counted = large_enough(PyObject_CallFunction((PyObject *)&PyEnum_Type, "Oi", forth, 7), sizeof(Enumerate));
    zipped = large_enough(PyObject_CallFunctionObjArgs((PyObject *)&PyZip_Type, back, counted, NULL), sizeof(Zip));
    state = zipped == NULL ? NULL : PyObject_CallMethod(zipped, "__reduce__", NULL);
    if (counted == NULL || state == NULL) {
        goto error;
    }
    PyObject *step = PyIter_Next(zipped); /* owned */
    if (step == NULL) {
        goto error;
    }
    Py_DECREF(step);
    const SequenceIterator *first = (const SequenceIterator *)forth, *last = (const SequenceIterator *)back;
    const Enumerate *count = (const Enumerate *)counted;
    const Zip *zip = (const Zip *)zipped;
    if (first->index == 1 && first->sequence == pair && last->index == 0 && last->sequence == pair && count->count == 8
        && count->inner == forth && zip->size == 2 && zip->inners == PyTuple_GetItem(state, 1) && !zip_is_strict(zipped)
        && lists && texts && bytes) {
        status = 0;
    }
    else {
        PyErr_SetString(PyExc_ImportError, "the iterators of this interpreter have an unknown layout");
    }
error:
    Py_XDECREF(pair);
    Py_XDECREF(forth);
    Py_XDECREF(back);
    Py_XDECREF(counted);
    Py_XDECREF(zipped);
    Py_XDECREF(state);
    return status;
}

#endif
