/* Array cache: small arrays that kernels have made, kept at their end for later kernels.
 *
 * NumPy takes some thousand instructions to make and to end a small array. Code that leaves kernels often needs such an
 * array each time. An array of the cache keeps its dtype, its axes and its memory; a program cannot tell it from a new
 * one.
 *
 * The end of an array is the tp_dealloc of numpy.ndarray. array_cache_start puts array_end before NumPy's function. It
 * keeps exact arrays that have the handler of large_results.h, which only kernels give, and that look like new ones:
 * they own their memory, and nobody has a view, a buffer or a weak reference. All others end as before. */
#include "runtime/arrays/array_cache.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/arrays/free_lists_inl.h"
#include "runtime/arrays/handled_array_inl.h"
#include "runtime/arrays/large_results.h"

#ifdef NPY_1_22_API_VERSION

#define SHELVES 16
#define SHELF_ARRAYS 8
#define SHELF_BYTES 65536 /* of all arrays on a shelf */

/* Arrays of one type, number of axes and size in bytes. */
typedef struct {
    uint64_t key; /* of the arrays on the shelf, and of those that may come */
    int count;
    PyObject *arrays[SHELF_ARRAYS]; /* without references: their count is 0 */
} Shelf;

static Shelf shelves[SHELVES];
static destructor numpy_dealloc; /* NULL: there is no cache */

static inline uint64_t
shelf_key(int typenum, int ndim, size_t bytes)
{
    return (uint64_t)bytes << 16 | (uint64_t)ndim << 8 | (uint64_t)typenum;
}

static inline Shelf *
shelf_of(uint64_t key)
{
    return &shelves[(key * UINT64_C(0x9E3779B97F4A7C15)) >> 60];
}

/* The end of an array whose count is 0, without the cache. */
static void
shelved_free(PyObject *array, size_t bytes)
{
    PyTraceMalloc_Track(RESULT_TRACED_AS, (uintptr_t)PyArray_DATA((PyArrayObject *)array), bytes); /* NumPy untracks it */
    numpy_dealloc(array);
}

static void
shelf_free_one(Shelf *shelf)
{
    shelved_free(shelf->arrays[--shelf->count], (size_t)(shelf->key >> 16));
}

/* Put an array whose count is 0 on its shelf; 0 if it cannot be used again or has no room. */
static inline int
array_shelve(PyObject *object)
{
    PyArrayObject *array = (PyArrayObject *)object;
    if (Py_TYPE(object) != &PyArray_Type || PyArray_BASE(array) != NULL || !array_is_plain(array)
        || ((PyArrayObject_fields *)object)->weakreflist != NULL || BUFFER_INFO_OF(object) != NULL
        || !dtype_is_numpys(PyArray_DESCR(array))) {
        return 0;
    }
    size_t bytes = array_bytes(array);
    if (bytes == 0 || bytes > CACHED_ARRAY_BYTES) {
        return 0;
    }
    uint64_t key = shelf_key(PyArray_TYPE(array), PyArray_NDIM(array), bytes);
    Shelf *shelf = shelf_of(key);
    if (shelf->key != key) {
        if (shelf->count > 0) { /* arrays of which too few are made give way, one by one */
            shelf_free_one(shelf);
            return 0;
        }
        shelf->key = key;
    }
    if (shelf->count == SHELF_ARRAYS || (shelf->count + 1) * bytes > SHELF_BYTES) {
        return 0;
    }
    PyTraceMalloc_Untrack(RESULT_TRACED_AS, (uintptr_t)PyArray_DATA(array));
    shelf->arrays[shelf->count++] = object;
    return 1;
}

/* The tp_dealloc of numpy.ndarray. */
static void
array_end(PyObject *object)
{
    if (HANDLER_OF(object) != result_capsule || !array_shelve(object)) {
        numpy_dealloc(object);
    }
}

void
array_cache_start(void)
{
    if (result_capsule == NULL || numpy_dealloc != NULL || PyType_HasFeature(&PyArray_Type, Py_TPFLAGS_HEAPTYPE)) {
        return;
    }
    numpy_dealloc = PyArray_Type.tp_dealloc;
    PyArray_Type.tp_dealloc = array_end;
}

PyObject *
cached_array(int typenum, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    if (numpy_dealloc == NULL || !handler_is_numpys()) {
        return NULL;
    }
    uint64_t key = shelf_key(typenum, ndim, bytes);
    Shelf *shelf = shelf_of(key);
    if (shelf->key == key && shelf->count > 0) {
        PyObject *object = PyObject_Init(shelf->arrays[--shelf->count], &PyArray_Type); /* new: the result */
        PyTraceMalloc_Track(RESULT_TRACED_AS, (uintptr_t)PyArray_DATA((PyArrayObject *)object), bytes);
        array_reshape((PyArrayObject *)object, shape, strides, fortran);
        return object;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(typenum); /* stolen by the new array */
    char *data = descr != NULL ? malloc(bytes) : NULL;     /* moved to the array */
    if (data == NULL) {
        Py_XDECREF(descr);
        return descr != NULL ? PyErr_NoMemory() : NULL;
    }
    return result_on(descr, ndim, shape, strides, fortran, data, bytes);
}

void
array_cache_clear(void)
{
    for (int i = 0; i < SHELVES; i++) {
        while (shelves[i].count > 0) {
            shelf_free_one(&shelves[i]);
        }
    }
}

#else

void
array_cache_start(void)
{
}

PyObject *
cached_array(int typenum, int ndim, npy_intp *shape, npy_intp *strides, int fortran, size_t bytes)
{
    return NULL;
}

void
array_cache_clear(void)
{
}

#endif
