/* Checks of the structs of iterators against real iterators. */
#include "launcher/marshal/iterators.h"
#include "launcher/marshal/iterator_structs_inl.h"
#include <stddef.h>

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

int
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
