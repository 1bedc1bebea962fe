/* Buffer pool: memory of private arrays and of large results (large_results.h), kept for later kernels.
 *
 * Private arrays never leave a kernel. Reuse pays because clearing fresh pages costs more than computing on them. A
 * block returns to the pool when its array's object ends, with the GIL held. The size of the pool is bounded. A block
 * is freed after many others were taken before it. buffers_clear frees all blocks. */
#include "runtime/arrays/buffer_pool.h"
#include "launcher/abi.h"
#include <string.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#define BUFFER_POOL_ROUNDED 256 /* bytes of the smallest block */
#define BUFFER_POOL_BLOCKS 32
#define BUFFER_POOL_IDLE 256         /* a block is freed after this number of others was taken */
#define HUGE_PAGES (4 * 1024 * 1024) /* bytes; from this size on, NumPy requests huge pages */

static struct {
    char *data;
    size_t size;
    size_t since;
} pooled[BUFFER_POOL_BLOCKS]; /* ordered by time of return, the latest last */

int pooled_count = 0;

size_t pooled_bytes = 0;

static size_t buffers_taken = 0;

static void
pooled_remove(int place)
{
    pooled_bytes -= pooled[place].size;
    pooled_count--;
    memmove(pooled + place, pooled + place + 1, (pooled_count - place) * sizeof(pooled[0]));
}

static void
pooled_free(int place)
{
    free(pooled[place].data);
    pooled_remove(place);
}

void
buffers_clear(void)
{
    while (pooled_count > 0) {
        pooled_free(0);
    }
}

char *
buffer_new(size_t size)
{
    char *data = malloc(size);
#ifdef MADV_HUGEPAGE
    if (data != NULL && size >= HUGE_PAGES) {
        size_t offset = 4096u - (uintptr_t)data % 4096u;
        madvise(data + offset, size - offset, MADV_HUGEPAGE); /* failure does not matter */
    }
#endif
    return data;
}

/* Counts a block that is taken, and frees blocks that have been idle for too long. */
static void
count_taken(void)
{
    buffers_taken++;
    while (pooled_count > 0 && buffers_taken - pooled[0].since > BUFFER_POOL_IDLE) {
        pooled_free(0);
    }
}

char *
buffer_take_exact(size_t size)
{
    count_taken();
    for (int place = pooled_count - 1; place >= 0; place--) {
        if (pooled[place].size == size) {
            char *data = pooled[place].data;
            pooled_remove(place);
            return data;
        }
    }
    return buffer_new(size);
}

/* Takes the smallest block that is large enough and less than twice as large, or allocates one. *size becomes the
 * block's size. */
static char *
buffer_take(size_t *size)
{
    int best = -1;
    count_taken();
    for (int place = 0; place < pooled_count; place++) {
        if (pooled[place].size >= *size && pooled[place].size / 2 < *size
            && (best < 0 || pooled[place].size <= pooled[best].size)) {
            best = place;
        }
    }
    if (best < 0) {
        return buffer_new(*size);
    }
    char *data = pooled[best].data;
    *size = pooled[best].size;
    pooled_remove(best);
    return data;
}

void
buffer_give(char *data, size_t size)
{
    if (size < BUFFER_POOL_SMALLEST || size > BUFFER_POOL_BYTES) {
        free(data);
        return;
    }
    while (pooled_count > 0 && (pooled_count == BUFFER_POOL_BLOCKS || pooled_bytes + size > BUFFER_POOL_BYTES)) {
        pooled_free(0);
    }
    pooled[pooled_count].data = data;
    pooled[pooled_count].size = size;
    pooled[pooled_count++].since = buffers_taken;
    pooled_bytes += size;
}

static void
block_dealloc(PyObject *object)
{
    Block *self = (Block *)object;
    buffer_give(self->data, self->size);
    Py_TYPE(object)->tp_free(object);
}

PyTypeObject block_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._launcher.Block",
    .tp_basicsize = sizeof(Block),
    .tp_dealloc = block_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Memory of an array that does not leave a kernel.",
};

/* The rounded size of a small block, so that arrays of several sizes fit into it. */
static size_t
block_round(size_t size)
{
    size_t rounded = BUFFER_POOL_ROUNDED;
    while (rounded < size && rounded < BUFFER_POOL_SMALLEST / 2) {
        rounded *= 2;
    }
    return rounded < size ? size : rounded;
}

PyObject *
array_on(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, char *data)
{
    return PyArray_NewFromDescr(&PyArray_Type, descr, ndim, shape, strides, data,
                                fortran ? NPY_ARRAY_FARRAY : NPY_ARRAY_CARRAY, NULL);
}

PyObject *
pooled_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t size)
{
    Block *block = PyObject_New(Block, &block_type); /* owned, then moved to the array */
    if (block == NULL) {
        Py_DECREF(descr);
        return NULL;
    }
    block->size = size;
    if (size < BUFFER_POOL_SMALLEST) {
        block->size = block_round(size);
        block->data = malloc(block->size);
    }
    else {
        block->data = buffer_take(&block->size);
    }
    if (block->data == NULL) {
        PyObject_Free(block);
        Py_DECREF(descr);
        return PyErr_NoMemory();
    }
    PyObject *array = array_on(descr, ndim, shape, strides, fortran, block->data); /* new: the result */
    if (array == NULL) {
        Py_DECREF(block);
        return NULL;
    }
    if (PyArray_SetBaseObject((PyArrayObject *)array, (PyObject *)block) < 0) {
        Py_DECREF(array);
        return NULL;
    }
    return array;
}
