/* The runtime table: functions that kernels call, and helpers that find addresses for them.
 *
 * entries.inc documents every entry. All take and return int64_t, so that generated code needs one kind of call. The first
 * argument of most is the frame, whose word 1 points to the references that this call owns. NumPy makes NumPy objects,
 * by its allocator, its rules for bases and its assignment.
 *
 * Loop nests are in iteration_order.h, runs of inner loops in loops.h and pieces.h, reductions in reduce.h, and
 * floating-point flags in fp_flags.h. Effects on Python objects are in stores.h and containers.h. Functions for Python
 * code are in symbols.h. */
#include "launcher/abi.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "runtime/ufuncs/iteration_order.h"
#include "runtime/thread_pool.h"
#include "runtime/reductions/reduce.h"
#include "runtime/ufuncs/symbols.h"
#include "runtime/ufuncs/fp_flags.h"
#include "runtime/objects/stores.h"
#include <numpy/arrayscalars.h>
#include "runtime/entries.h"
#include "runtime/runtime.h"

/* ---- scalars ---- */

int
scalar_size(int typenum)
{
    static const unsigned char sizes[] = {
        [NPY_BOOL] = sizeof(npy_bool),         [NPY_BYTE] = sizeof(npy_byte),           [NPY_UBYTE] = sizeof(npy_ubyte),
        [NPY_SHORT] = sizeof(npy_short),       [NPY_USHORT] = sizeof(npy_ushort),       [NPY_INT] = sizeof(npy_int),
        [NPY_UINT] = sizeof(npy_uint),         [NPY_LONG] = sizeof(npy_long),           [NPY_ULONG] = sizeof(npy_ulong),
        [NPY_LONGLONG] = sizeof(npy_longlong), [NPY_ULONGLONG] = sizeof(npy_ulonglong), [NPY_FLOAT] = sizeof(npy_float),
        [NPY_DOUBLE] = sizeof(npy_double),     [NPY_CFLOAT] = sizeof(npy_float),        [NPY_CDOUBLE] = sizeof(npy_double),
    };
    return typenum >= 0 && typenum < (int)sizeof(sizes) ? sizes[typenum] : 0;
}

int
scalar_is_complex(int typenum)
{
    return typenum == NPY_CFLOAT || typenum == NPY_CDOUBLE;
}

int64_t
scalar_load(const void *source, int typenum)
{
    double value;
    int64_t word;

    switch (typenum) {
    case NPY_BOOL: return *(const npy_bool *)source != 0;
    case NPY_BYTE: return *(const npy_byte *)source;
    case NPY_UBYTE: return *(const npy_ubyte *)source;
    case NPY_SHORT: return *(const npy_short *)source;
    case NPY_USHORT: return *(const npy_ushort *)source;
    case NPY_INT: return *(const npy_int *)source;
    case NPY_UINT: return *(const npy_uint *)source;
    case NPY_LONG: return *(const npy_long *)source;
    case NPY_ULONG: return *(const npy_ulong *)source;
    case NPY_LONGLONG: return *(const npy_longlong *)source;
    case NPY_ULONGLONG: return *(const npy_ulonglong *)source;
    case NPY_FLOAT:
    case NPY_CFLOAT: value = *(const npy_float *)source; break;
    default: value = *(const npy_double *)source; break;
    }
    memcpy(&word, &value, sizeof(word));
    return word;
}

void
scalar_words(PyObject *scalar, int typenum, int64_t *words)
{
    const char *value = SCALAR_VALUE(scalar);
    words[0] = scalar_load(value, typenum);
    if (scalar_is_complex(typenum)) {
        words[1] = scalar_load(value + scalar_size(typenum), typenum);
    }
}

void
scalar_store(void *target, int typenum, int64_t word)
{
    double value;
    memcpy(&value, &word, sizeof(value));

    switch (typenum) {
    case NPY_BOOL: *(npy_bool *)target = word != 0; break;
    case NPY_FLOAT:
    case NPY_CFLOAT: *(npy_float *)target = (npy_float)value; break;
    case NPY_DOUBLE:
    case NPY_CDOUBLE: *(npy_double *)target = value; break;
    default:
        switch (scalar_size(typenum)) {
        case 1: *(npy_int8 *)target = (npy_int8)word; break;
        case 2: *(npy_int16 *)target = (npy_int16)word; break;
        case 4: *(npy_int32 *)target = (npy_int32)word; break;
        default: *(npy_int64 *)target = word; break;
        }
    }
}

PyObject *
scalar_box(PyTypeObject *type, int typenum, const int64_t *words)
{
    if (typenum == NPY_BOOL) {
        PyArrayScalar_RETURN_BOOL_FROM_LONG(words[0] != 0);
    }
    PyObject *scalar = type->tp_alloc(type, 0); /* new: the result */
    if (scalar == NULL) {
        return NULL;
    }
    char *value = SCALAR_VALUE(scalar);
    scalar_store(value, typenum, words[0]);
    if (scalar_is_complex(typenum)) {
        scalar_store(value + scalar_size(typenum), typenum, words[1]);
    }
    return scalar;
}

int64_t
runtime_store_scalar(int64_t address, int64_t typenum, int64_t word)
{
    scalar_store((void *)address, (int)typenum, word);
    return OK;
}

int64_t
runtime_load_scalar(int64_t address, int64_t typenum)
{
    return scalar_load((const void *)address, (int)typenum);
}

/* ---- references ---- */

static int
owned_grow(OwnedList *owned)
{
    Py_ssize_t capacity = owned->capacity * 2;
    PyObject **items = owned->items == owned->inline_items ? NULL : owned->items;
    items = PyMem_Realloc(items, capacity * sizeof(PyObject *));
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (owned->items == owned->inline_items) {
        memcpy(items, owned->inline_items, sizeof(owned->inline_items));
    }
    owned->items = items;
    owned->capacity = capacity;
    return 0;
}

int
owned_push(OwnedList *owned, PyObject *object)
{
    if (owned->count == owned->capacity && owned_grow(owned) < 0) {
        Py_DECREF(object);
        return -1;
    }
    owned->items[owned->count++] = object;
    return 0;
}

void
owned_clear(OwnedList *owned)
{
    while (owned->count > 0) {
        Py_DECREF(owned->items[--owned->count]);
    }
    for (int place = 0; place < OWNED_KEPT; place++) {
        Py_XDECREF(owned->kept[place].array);
    }
    if (owned->items != owned->inline_items) {
        PyMem_Free(owned->items);
    }
}

#include "runtime/objects/construct.h"
#include "runtime/objects/functions.h"
#include "runtime/ufuncs/library_calls.h"
#include "runtime/objects/containers.h"
#include "runtime/arrays/from_lists.h"
#include "runtime/objects/attributes.h"
#include "runtime/objects/deletions.h"
#include "runtime/objects/sets.h"
#include "runtime/objects/deques.h"
#include "runtime/objects/search_sort.h"
#include "runtime/objects/heaps.h"
#include "runtime/ufuncs/random.h"
#include "runtime/objects/strings.h"
#include "runtime/objects/retain.h"

/* ---- arrays ---- */

#include "runtime/arrays/allocate.h"
#include "runtime/arrays/views.h"
#include "runtime/ufuncs/loops.h"
#include "runtime/linalg/small_matmul.h"
#include "runtime/indexing/integer_arrays.h"
#include "runtime/arrays/copy.h"

int64_t
runtime_reduce(int64_t frame, int64_t spec)
{
    const int64_t *words = (const int64_t *)spec;
    Reduction reduction = {
        (PyUFuncGenericFunction)words[0],
        (void *)words[1],
        (int)words[2],
        value_size((int)words[2]),
        (int)words[3],
        (const int64_t *)words[4],
        words[5],
        words[6] != 0,
        words[7],
        (int64_t *)words[8],
        words[9],
        (int)words[10],
    };
    if (reduce_chunk == REDUCE_UNPROBED) {
        PyGILState_STATE gil = PyGILState_Ensure();
        int probed = reduce_probe();
        PyGILState_Release(gil);
        if (probed < 0) {
            return LAUNCHER_ERROR;
        }
    }
    if (reduce_chunk == REDUCE_UNKNOWN) {
        error_set(PyExc_SystemError, "reduce called where reduce_supported says no");
        return LAUNCHER_ERROR;
    }
    return reduction_run(&reduction) < 0 || error_is_set() ? LAUNCHER_ERROR : OK;
}

/* ---- exceptions, and the eval breaker ---- */

int64_t
runtime_clear_exception(void)
{
    PyErr_Clear();
    return OK;
}

int64_t
runtime_asked(int64_t signals)
{
    return breaker_polled(signals != 0);
}

/* ---- threads ---- */

int64_t
runtime_parallel(int64_t body, int64_t arguments, int64_t count, int64_t align, int64_t work, int64_t least)
{
    pool_run((PoolBody)body, (int64_t *)arguments, count, align, work, least);
    return OK;
}

#include "runtime/nogil.h"

/* ---- the table and the module's helpers ---- */

void *const runtime_table[] = {
#define ENTRY(name, result, gil, count, words) (void *)runtime_##name,
#include "runtime/entries.inc"
};

/* One line for each entry: its name, its result and its words, as in entries.inc. */
static const char entry_lines[] =
#define ENTRY(name, result, gil, count, words) #name " " #result " " #words "\n"
#include "runtime/entries.inc"
    ;

static int
umath_import(void)
{
    import_umath1(-1);
    return 0;
}

int
runtime_register(PyObject *module)
{
    if (PyType_Ready(&block_type) < 0 || nest_probe() < 0 || iterator_probe() < 0 || results_probe() < 0 || umath_import() < 0
        || deques_ready() < 0 || quiet_ends_init() < 0 || errors_find() < 0
        || PyModule_AddFunctions(module, module_methods) < 0 || PyModule_AddFunctions(module, draw_functions) < 0
        || PyModule_AddIntConstant(module, "RESULTS_COME_BACK", RESULTS_COME_BACK) < 0
        || PyModule_AddFunctions(module, product_functions) < 0) {
        return -1;
    }
    PyObject *address = PyLong_FromVoidPtr((void *)runtime_table); /* owned */
    int status = address == NULL ? -1 : PyObject_SetAttrString(module, "RUNTIME_TABLE", address);
    Py_XDECREF(address);
    return status < 0 ? -1 : PyModule_AddStringConstant(module, "RUNTIME_ENTRIES", entry_lines);
}
