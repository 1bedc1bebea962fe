/* Buffer pool: memory of private arrays and of large results (large_results.h), kept for later kernels. */
#ifndef PIJIT_RUNTIME_ARRAYS_BUFFER_POOL_H
#define PIJIT_RUNTIME_ARRAYS_BUFFER_POOL_H

#include "launcher/abi.h"

#define BUFFER_POOL_SMALLEST (128 * 1024)     /* bytes; the C library itself keeps smaller blocks */
#define BUFFER_POOL_BYTES (128 * 1024 * 1024) /* maximum size of the pool */

typedef struct {
    PyObject_HEAD
    char *data; /* owned, returned to the pool */
    size_t size;
} Block;

extern int pooled_count;
extern size_t pooled_bytes;

void buffers_clear(void);
char *buffer_new(size_t size);

/* Takes a block of exactly this size. A larger block's real size would be unknown when NumPy frees it. */
char *buffer_take_exact(size_t size);

/* Puts a block from malloc into the pool, or frees it. Its real size may exceed `size`. */
void buffer_give(char *data, size_t size);

extern PyTypeObject block_type;

/* A new array on memory that it does not own. Steals descr. */
PyObject *array_on(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, char *data);

/* A new array on a block. Steals descr. */
PyObject *pooled_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t size);

#endif
