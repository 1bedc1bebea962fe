/* The memory handler of an array (NEP 49): a field that NumPy's headers hide from modules that older NumPy versions can
 * load. */
#ifndef PIJIT_RUNTIME_ARRAYS_HANDLED_ARRAY_INL_H
#define PIJIT_RUNTIME_ARRAYS_HANDLED_ARRAY_INL_H

#include "numpy_api.h"

#ifdef NPY_1_22_API_VERSION

typedef struct {
    PyArrayObject_fields known;
#if NPY_FEATURE_VERSION < NPY_1_20_API_VERSION
    void *buffer_info;
#endif
#if NPY_FEATURE_VERSION < NPY_1_22_API_VERSION
    PyObject *mem_handler;
#endif
} HandledArray;

#if NPY_FEATURE_VERSION < NPY_1_20_API_VERSION
#define BUFFER_INFO_OF(array) (((HandledArray *)(array))->buffer_info)
#else
#define BUFFER_INFO_OF(array) (((HandledArray *)(array))->known._buffer_info)
#endif

#if NPY_FEATURE_VERSION < NPY_1_22_API_VERSION
#define HANDLER_OF(array) (((HandledArray *)(array))->mem_handler)
#else
#define HANDLER_OF(array) (((HandledArray *)(array))->known.mem_handler)
#endif

/* The indices are those of the API of NumPy 1.22 and later. */
#define GET_HANDLER ((PyObject * (*)(void)) PyArray_API[305])
#define DEFAULT_HANDLER (*(PyObject **)PyArray_API[306])

/* True if a new array of NumPy would have its default handler here. NumPy has handlers. */
static inline int
handler_is_numpys(void)
{
    PyObject *handler = GET_HANDLER(); /* owned */
    if (handler == NULL) {
        PyErr_Clear();
        return 0;
    }
    int is_default = handler == DEFAULT_HANDLER;
    Py_DECREF(handler);
    return is_default;
}

#endif

#endif
