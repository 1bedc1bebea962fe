/* Memory of large results: NumPy's arrays in all that can be seen, whose memory comes back to be used again.
 *
 * Part of table.c, apart for its size. The C library gives large blocks back to the system, and clearing the pages of new
 * ones can take longer than computing what goes into them. So the arrays name a handler (NEP 49) that takes memory from
 * what buffer_pool.h keeps; it has the name of NumPy's own. Which field of an array that is, a probe makes sure. Where the program
 * has another handler, or NumPy none, its results are NumPy's. */
#ifndef PIJIT_RESULTS_H
#define PIJIT_RESULTS_H

#include "runtime/arrays/buffer_pool.h"

#define RESULT_SMALLEST (1024 * 1024)   /* bytes; of smaller ones the C library keeps the pages once it has met them */

#ifdef NPY_1_22_API_VERSION

#define HANDLERS_SINCE 0x0000000f       /* NumPy's C interface that has handlers, and the places of their functions in it */
#define TRACED_AS 389047                /* numpy.lib.tracemalloc_domain */
#define GET_HANDLER ((PyObject *(*)(void))PyArray_API[305])
#define DEFAULT_HANDLER (*(PyObject **)PyArray_API[306])

/* An array's fields, which NumPy's headers do not show to modules that older versions can load. */
typedef struct {
    PyArrayObject_fields known;
#if NPY_FEATURE_VERSION < NPY_1_20_API_VERSION
    void *buffer_info;
#endif
#if NPY_FEATURE_VERSION < NPY_1_22_API_VERSION
    PyObject *mem_handler;
#endif
} HandledArray;

#if NPY_FEATURE_VERSION < NPY_1_22_API_VERSION
#define HANDLER_OF(array) (((HandledArray *)(array))->mem_handler)
#else
#define HANDLER_OF(array) (((HandledArray *)(array))->known.mem_handler)
#endif

static void *
result_malloc(void *context, size_t size)
{
    return spare_new(size);
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
    spare_give(data, size);
}

static PyDataMem_Handler result_handler = {
    "default_allocator", 1, {NULL, result_malloc, result_calloc, result_realloc, result_free},
};
static PyObject *result_capsule = NULL;     /* owned; NULL: results are NumPy's */

/* Makes the capsule where arrays have their handlers where they are expected. */
static int
results_probe(void)
{
    npy_intp one = 1;
    if (PyArray_GetNDArrayCFeatureVersion() < HANDLERS_SINCE) {
        return 0;
    }
    PyObject *array = PyArray_SimpleNew(1, &one, NPY_DOUBLE);  /* owned */
    PyObject *handler = GET_HANDLER();  /* owned */
    int known = array != NULL && handler != NULL && PyArray_Type.tp_basicsize >= (Py_ssize_t)sizeof(HandledArray)
        && HANDLER_OF(array) == handler;
    if (array != NULL && handler != NULL && known) {
        result_capsule = PyCapsule_New(&result_handler, "mem_handler", NULL);
    }
    Py_XDECREF(array);
    Py_XDECREF(handler);
    return PyErr_Occurred() ? -1 : 0;
}

/* Whether a new array of so many bytes would have NumPy's own memory, which this file's can replace. */
static int
result_is_ours(size_t bytes)
{
    if (bytes < RESULT_SMALLEST || result_capsule == NULL) {
        return 0;
    }
    PyObject *handler = GET_HANDLER();  /* owned */
    if (handler == NULL) {
        PyErr_Clear();
        return 0;
    }
    Py_DECREF(handler);
    return handler == DEFAULT_HANDLER;
}

/* A block of just this size: others would have more than they know of. */
static char *
result_take(size_t size)
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

/* A new array that owns memory which was used before, if there is any of its size; steals descr. */
static PyObject *
result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    char *data = result_take(bytes);
    if (data == NULL) {
        Py_DECREF(descr);
        return PyErr_NoMemory();
    }
    PyObject *array = array_on(descr, ndim, shape, strides, fortran, data);
    if (array == NULL) {
        spare_give(data, bytes);
        return NULL;
    }
    PyTraceMalloc_Track(TRACED_AS, (uintptr_t)data, bytes);  /* NumPy ends that */
    Py_INCREF(result_capsule);
    HANDLER_OF(array) = result_capsule;
    PyArray_ENABLEFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA);
    return array;
}

#define RESULTS_COME_BACK (result_capsule != NULL)

#else

#define RESULTS_COME_BACK 0

static int
results_probe(void)
{
    return 0;
}

static int
result_is_ours(size_t bytes)
{
    return 0;
}

static PyObject *
result_array(PyArray_Descr *descr, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    Py_DECREF(descr);
    return NULL;
}

#endif
#endif
