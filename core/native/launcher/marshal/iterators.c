/* Python's iterators as frame words: read, moved and built. */
#include "launcher/marshal/iterators.h"
#include "launcher/marshal/inputs_inl.h"
#include "launcher/marshal/iterator_structs_inl.h"

#define LARGEST_COUNT ((Py_ssize_t)1 << 62)

int
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

const int64_t *
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

PyObject *
range_build(const int64_t *words)
{
    PyObject *range = NULL; /* new: the result */
    /* owned */
    PyObject *arguments = Py_BuildValue("(LLL)", (long long)words[0], (long long)words[1], (long long)words[2]);
    if (arguments != NULL) {
        range = PyObject_Call((PyObject *)&PyRange_Type, arguments, NULL);
        Py_DECREF(arguments);
    }
    return range;
}

PyObject *
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

PyObject *
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

PyObject *
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

PyObject *
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

PyObject *
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
