/* Buffer pool: memory of private arrays and of large results (large_results.h), kept for later kernels.
 *
 * Private arrays never leave a kernel. Reuse pays because clearing fresh pages costs more than computing on them. A
 * block returns to the pool when its array's object ends, with the GIL held. The size of the pool is bounded. A block
 * is freed after many others were taken before it. spare_clear frees all blocks. */
#include "runtime/arrays/buffer_pool.h"
#include "launcher/abi.h"
#include <string.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/mman.h>
#endif

#define SPARE_ROUNDED 256 /* bytes of the smallest block */
#define SPARE_BLOCKS 32
#define SPARE_IDLE 256               /* a block is freed after this number of others was taken */
#define HUGE_PAGES (4 * 1024 * 1024) /* bytes; from this size on, NumPy requests huge pages */

static struct {
    char *data;
    size_t size;
    size_t since;
} spare[SPARE_BLOCKS]; /* ordered by time of return, the latest last */

int spare_count = 0;

size_t spare_bytes = 0;

static size_t spare_taken = 0;

static void
spare_remove(int place)
{
    spare_bytes -= spare[place].size;
    spare_count--;
    memmove(spare + place, spare + place + 1, (spare_count - place) * sizeof(spare[0]));
}

static void
spare_free(int place)
{
    free(spare[place].data);
    spare_remove(place);
}

void
spare_clear(void)
{
    while (spare_count > 0) {
        spare_free(0);
    }
}

char *
spare_new(size_t size)
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
spare_count_taken(void)
{
    spare_taken++;
    while (spare_count > 0 && spare_taken - spare[0].since > SPARE_IDLE) {
        spare_free(0);
    }
}

char *
spare_take_exact(size_t size)
{
    spare_count_taken();
    for (int place = spare_count - 1; place >= 0; place--) {
        if (spare[place].size == size) {
            char *data = spare[place].data;
            spare_remove(place);
            return data;
        }
    }
    return spare_new(size);
}

/* Takes the smallest block that is large enough and less than twice as large, or allocates one. *size becomes the
 * block's size. */
static char *
spare_take(size_t *size)
{
    int best = -1;
    spare_count_taken();
    for (int place = 0; place < spare_count; place++) {
        if (spare[place].size >= *size && spare[place].size / 2 < *size
            && (best < 0 || spare[place].size <= spare[best].size)) {
            best = place;
        }
    }
    if (best < 0) {
        return spare_new(*size);
    }
    char *data = spare[best].data;
    *size = spare[best].size;
    spare_remove(best);
    return data;
}

void
spare_give(char *data, size_t size)
{
    if (size < SPARE_SMALLEST || size > SPARE_BYTES) {
        free(data);
        return;
    }
    while (spare_count > 0 && (spare_count == SPARE_BLOCKS || spare_bytes + size > SPARE_BYTES)) {
        spare_free(0);
    }
    spare[spare_count].data = data;
    spare[spare_count].size = size;
    spare[spare_count++].since = spare_taken;
    spare_bytes += size;
}

static void
block_dealloc(PyObject *object)
{
    Block *self = (Block *)object;
    spare_give(self->data, self->size);
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
    size_t rounded = SPARE_ROUNDED;
    while (rounded < size && rounded < SPARE_SMALLEST / 2) {
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
spare_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t size)
{
    Block *block = PyObject_New(Block, &block_type); /* owned, then moved to the array */
    if (block == NULL) {
        Py_DECREF(descr);
        return NULL;
    }
    block->size = size;
    if (size < SPARE_SMALLEST) {
        block->size = block_round(size);
        block->data = malloc(block->size);
    }
    else {
        block->data = spare_take(&block->size);
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
