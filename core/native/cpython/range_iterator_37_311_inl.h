/* Range iterators in CPython 3.7 to 3.11: they store the first value and an index. Part of iterator_structs_inl.h.
 *
 * As words of a kernel they are [index, start, step, length], of which only the index changes. */
#ifndef PIJIT_CPYTHON_RANGE_ITERATOR_37_311_INL_H
#define PIJIT_CPYTHON_RANGE_ITERATOR_37_311_INL_H

#include <Python.h>

typedef struct {
    PyObject_HEAD
    long index;
    long start;
    long step;
    long len;
} RangeIterator;

static inline void
range_iterator_read(const RangeIterator *iterator, int64_t *words)
{
    words[0] = iterator->index;
    words[1] = iterator->start;
    words[2] = iterator->step;
    words[3] = iterator->len;
}

/* Set the index of an iterator that range_iterator_read has read. */
static inline void
range_iterator_move(RangeIterator *iterator, int64_t index)
{
    iterator->index = (long)index;
}

static inline void
range_iterator_set(RangeIterator *iterator, const int64_t *words)
{
    iterator->index = (long)words[0];
    iterator->start = (long)words[1];
    iterator->step = (long)words[2];
    iterator->len = (long)words[3];
}

#endif
