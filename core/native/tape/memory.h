/* Memory: what a tape knows about the owner of memory. Its adjoint is the shadow; its earlier contents are a copy on
 * which stores are undone. Both are arrays of bytes, so that a view of any dtype and strides can be mapped to them. */
#ifndef PIJIT_TAPE_MEMORY_H
#define PIJIT_TAPE_MEMORY_H

#include "numpy_api.h"

typedef struct {
    PyObject_HEAD
    PyArrayObject *owner;   /* owned: so its address is not used again */
    PyObject *shared;       /* owned; a str if an argument shares this memory with another one; NULL or None: no */
    PyArrayObject *shadow;  /* owned; bytes; NULL: nothing was added to the adjoint */
    PyArrayObject *earlier; /* owned; bytes; NULL: no store was undone */
    char *low;              /* the first byte of the memory */
    Py_ssize_t size;        /* in bytes */
    char active;            /* whether the contents depend on an active argument */
} Memory;

extern PyTypeObject Memory_Type;

/* A NEW Memory, or NULL with an exception set. */
Memory *memory_new(PyArrayObject *owner);

/* NEW references to an array in the shadow, the copy, or the memory itself; NULL with an exception set.
 * memory_shadow makes the shadow if there is none. memory_value is the array at the point that the sweep has reached. */
PyObject *memory_shadow(Memory *self, PyArrayObject *x);
PyObject *memory_earlier(Memory *self, PyObject *run, PyArrayObject *x);
PyObject *memory_value(const Memory *self, PyArrayObject *x);

/* Make the shadow if there is none: 0, or -1 with an exception set. */
int memory_shadow_make(Memory *self);

/* Drop the shadow and the copy. */
void memory_forget(Memory *self);

/* The array at the end of the chain of bases, borrowed from `x`. NULL with an exception set. */
PyArrayObject *owner_of(PyArrayObject *x);

/* Whether two elements may share memory, as in broadcast arrays and sliding windows. */
int overlaps_itself(PyArrayObject *x);

#endif
