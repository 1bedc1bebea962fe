/* Runtime functions for kernels that run without the GIL.
 *
 * Part of table.c, in a file of its own. Functions that make or release objects take the GIL for that time. Functions
 * that compute do not. Functions on objects that the program may reach from elsewhere are missing here. Kernels that
 * call these keep the GIL. */
#ifndef PIJIT_NOGIL_H
#define PIJIT_NOGIL_H

#include "cpython/eval_breaker/eval_breaker.h"
#include "runtime/gil.h"
#include "launcher/abi.h"
#include "runtime/arrays/allocate.h"
#include "runtime/arrays/copy.h"
#include "runtime/arrays/views.h"
#include "runtime/linalg/small_matmul.h"
#include "runtime/objects/construct.h"
#include "runtime/objects/containers.h"
#include "runtime/objects/functions.h"
#include "runtime/runtime.h"
#include "runtime/ufuncs/library_calls.h"

#define TAKES_GIL(name, parameters, arguments) \
    static int64_t nogil_##name parameters \
    { \
        PyGILState_STATE gil = PyGILState_Ensure(); \
        int64_t answer = runtime_##name arguments; \
        PyGILState_Release(gil); \
        return answer; \
    }

TAKES_GIL(alloc, (int64_t frame, int64_t desc, int64_t typenum, int64_t ndim, int64_t order),
          (frame, desc, typenum, ndim, order))
TAKES_GIL(alloc_like, (int64_t frame, int64_t desc, int64_t typenum, int64_t ndim, int64_t nops, int64_t ops),
          (frame, desc, typenum, ndim, nops, ops))
TAKES_GIL(view, (int64_t frame, int64_t desc, int64_t ndim, int64_t typenum, int64_t base), (frame, desc, ndim, typenum, base))
TAKES_GIL(copy, (int64_t frame, int64_t dst, int64_t dst_ndim, int64_t typenum, int64_t src, int64_t src_ndim),
          (frame, dst, dst_ndim, typenum, src, src_ndim))
TAKES_GIL(changed_instance, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_instance, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_tuple, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_list, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_dict, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_set, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_slice, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(bound_method, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_cell, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_function, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(new_object, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(box, (int64_t frame, int64_t count, int64_t spec), (frame, count, spec))
TAKES_GIL(invoke,
          (int64_t frame, int64_t function, int64_t keywords, int64_t count, int64_t spec, int64_t wanted, int64_t strict,
           int64_t out),
          (frame, function, keywords, count, spec, wanted, strict, out))
TAKES_GIL(product, (int64_t frame, int64_t left, int64_t right, int64_t wanted, int64_t strict, int64_t out),
          (frame, left, right, wanted, strict, out))
TAKES_GIL(item, (int64_t frame, int64_t tuple, int64_t index, int64_t wanted, int64_t out), (frame, tuple, index, wanted, out))
TAKES_GIL(copied, (int64_t frame, int64_t desc, int64_t ndim, int64_t typenum), (frame, desc, ndim, typenum))
TAKES_GIL(own, (int64_t frame, int64_t object), (frame, object))
TAKES_GIL(retain, (int64_t frame, int64_t object), (frame, object))
TAKES_GIL(release, (int64_t frame, int64_t object), (frame, object))

static int64_t
nogil_clear_exception(void)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    PyErr_Clear();
    PyGILState_Release(gil);
    return 0;
}

static int64_t
nogil_missing(void)
{
    error_set(PyExc_SystemError, "a kernel without the GIL called what needs it");
    return LAUNCHER_ERROR;
}

static int64_t
nogil_asked(int64_t signals)
{
    PyThreadState *tstate = PyGILState_GetThisThreadState(); /* borrowed */
    return tstate != NULL && breaker_asks(tstate);
}

/* These need no GIL, or take it themselves. */
#define nogil_scatter runtime_scatter
#define nogil_rows runtime_rows
#define nogil_add_at runtime_add_at
#define nogil_mask_count runtime_mask_count
#define nogil_mask_pick runtime_mask_pick
#define nogil_mask_put runtime_mask_put
#define nogil_layout_like runtime_layout_like
#define nogil_flags_clear runtime_flags_clear
#define nogil_flags_test runtime_flags_test
#define nogil_own_flags_clear runtime_own_flags_clear
#define nogil_own_flags_test runtime_own_flags_test
#define nogil_parallel runtime_parallel
#define nogil_copy_apart runtime_copy_apart
#define nogil_copy_around runtime_copy_around
#define nogil_flags_listened runtime_flags_listened
#define nogil_ufunc runtime_ufunc
#define nogil_reduce runtime_reduce
#define nogil_overlap runtime_overlap
#define nogil_same runtime_same
#define nogil_store_scalar runtime_store_scalar
#define nogil_load_scalar runtime_load_scalar

/* clang-format off */
#define NOGIL_ENTRIES(X) \
    X(alloc) X(alloc_like) X(layout_like) X(view) X(retain) X(release) X(flags_clear) X(flags_test) X(own_flags_clear) X(own_flags_test) X(flags_listened) X(ufunc) \
    X(reduce) X(copy) X(overlap) X(same) X(store_scalar) X(load_scalar) X(new_instance) X(changed_instance) X(new_tuple) X(new_list) X(new_dict) X(new_set) X(new_slice) X(bound_method) X(new_cell) X(new_function) X(new_object) X(box) \
    X(own) X(copied) \
    X(invoke) X(product) X(gufunc) X(scatter) X(rows) X(add_at) X(mask_count) X(mask_pick) X(mask_put) X(item) X(asked) \
    X(clear_exception) X(parallel) X(copy_apart) X(copy_around) X(matmul)
/* clang-format on */

#endif
