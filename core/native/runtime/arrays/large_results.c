/* Large results: arrays that look like NumPy's own, with memory that is reused after their end.
 *
 * The C library returns large blocks to the system, also when two blocks of some 100 KiB become free at the end of its
 * heap. Clearing the pages of new blocks can take longer than the computation. So the arrays name a handler (NEP 49)
 * that takes memory from the buffer pool. It has the name of NumPy's own handler. A probe verifies which field of an
 * array contains the handler. If the program has set another handler, or NumPy has no handlers, results are on NumPy's
 * memory. Arrays of the array cache (array_cache.h) have the handler, too. */
#include "runtime/arrays/large_results.h"
#include "launcher/abi.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/arrays/handled_array_inl.h"

#define RESULT_SMALLEST BUFFER_POOL_SMALLEST /* bytes; the C library keeps the pages of smaller blocks */

#ifdef NPY_1_22_API_VERSION

#define HANDLERS_SINCE 0x0000000f /* first C API version with handlers */

static void *
result_malloc(void *context, size_t size)
{
    return buffer_new(size);
}

static void *
result_calloc(void *context, size_t count, size_t size)
{
    return calloc(count, size);
}

static void *
result_realloc(void *context, void *data, size_t size)
{
    return realloc(data, size);
}

static void
result_free(void *context, void *data, size_t size)
{
    buffer_give(data, size);
}

static PyDataMem_Handler result_handler = {
    "default_allocator",
    1,
    {NULL, result_malloc, result_calloc, result_realloc, result_free},
};
PyObject *result_capsule = NULL; /* owned */

int
results_probe(void)
{
    npy_intp one = 1;
    if (PyArray_GetNDArrayCFeatureVersion() < HANDLERS_SINCE) {
        return 0;
    }
    PyObject *array = PyArray_SimpleNew(1, &one, NPY_DOUBLE); /* owned */
    PyObject *handler = GET_HANDLER();                        /* owned */
    int known = array != NULL && handler != NULL && PyArray_Type.tp_basicsize >= (Py_ssize_t)sizeof(HandledArray)
                && HANDLER_OF(array) == handler;
    if (array != NULL && handler != NULL && known) {
        result_capsule = PyCapsule_New(&result_handler, "mem_handler", NULL);
    }
    Py_XDECREF(array);
    Py_XDECREF(handler);
    return PyErr_Occurred() ? -1 : 0;
}

int
result_is_ours(size_t bytes)
{
    return bytes >= RESULT_SMALLEST && result_capsule != NULL && handler_is_numpys();
}

PyObject *
result_on(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, char *data, size_t bytes)
{
    PyObject *array = array_on(descr, ndim, shape, strides, fortran, data); /* owned, given away */
    if (array == NULL) {
        buffer_give(data, bytes);
        return NULL;
    }
    PyTraceMalloc_Track(RESULT_TRACED_AS, (uintptr_t)data, bytes); /* NumPy untracks it */
    Py_INCREF(result_capsule);
    HANDLER_OF(array) = result_capsule;
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    return array;
}

PyObject *
result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    char *data = buffer_take_exact(bytes);
    if (data == NULL) {
        Py_DECREF(descr);
        return PyErr_NoMemory();
    }
    return result_on(descr, ndim, shape, strides, fortran, data, bytes);
}

int
results_come_back(void)
{
    return result_capsule != NULL;
}

#else

PyObject *result_capsule = NULL; /* owned */

int
results_come_back(void)
{
    return 0;
}

int
results_probe(void)
{
    return 0;
}

int
result_is_ours(size_t bytes)
{
    return 0;
}

PyObject *
result_on(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, char *data, size_t bytes)
{
    Py_DECREF(descr);
    buffer_give(data, bytes);
    return NULL;
}

PyObject *
result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    Py_DECREF(descr);
    return NULL;
}

#endif
