/* Range iterators in CPython 3.12 and 3.13: they store the next value and the number of steps left.
 *
 * Part of iterator_structs_inl.h. As words of a kernel they are [index, start, step, length], of which only the index
 * changes. */
#ifndef PIJIT_CPYTHON_RANGE_ITERATOR_312_INL_H
#define PIJIT_CPYTHON_RANGE_ITERATOR_312_INL_H

#include <Python.h>

typedef struct {
    PyObject_HEAD
    long start;
    long step;
    long len;
} RangeIterator;

static inline void
range_iterator_read(const RangeIterator *iterator, int64_t *words)
{
    words[0] = 0;
    words[1] = iterator->start;
    words[2] = iterator->step;
    words[3] = iterator->len;
}

/* Set the index of an iterator that range_iterator_read has read. */
static inline void
range_iterator_move(RangeIterator *iterator, int64_t index)
{
    /* Unsigned, as in CPython: the value after the last step may overflow. */
    iterator->start = (long)((unsigned long)iterator->start + (unsigned long)index * (unsigned long)iterator->step);
    iterator->len -= (long)index;
}

static inline void
range_iterator_set(RangeIterator *iterator, const int64_t *words)
{
    iterator->start = (long)words[1];
    iterator->step = (long)words[2];
    iterator->len = (long)words[3];
    range_iterator_move(iterator, words[0]);
}

#endif
