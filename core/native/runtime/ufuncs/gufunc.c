/* Calls of a generalised ufunc's inner loop, and products by NumPy's dot.
 *
 * A call has one matrix or vector per operand. Where the operands are aligned and have the loop's types, NumPy calls
 * the loop with the operands' own strides. An axis of length 1 has stride 0. Kernels do the same, without NumPy's
 * iterator. */
#include "runtime/ufuncs/gufunc.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/gil_inl.h"
#include "runtime/objects/stores.h"
#include "runtime/ufuncs/error_state.h"
#include "runtime/ufuncs/fp_status_inl.h"
#include "runtime/ufuncs/library_calls.h"
#include <numpy/ufuncobject.h>
#include <fenv.h>

void
switches_check(unsigned long before)
{
    if (gil_switches() != before) {
        Py_AddPendingCall(nothing, NULL);
    }
}

int64_t
nogil_gufunc(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work, int64_t fatal)
{
    ((PyUFuncGenericFunction)function)((char **)pointers, (npy_intp *)dims, (npy_intp *)steps, (void *)data);
    if (error_is_set()) {
        return LAUNCHER_ERROR;
    }
    return fatal && fetestexcept(FE_INVALID) ? BAILED_OUT : 0;
}

int64_t
runtime_gufunc(int64_t function, int64_t data, int64_t pointers, int64_t dims, int64_t steps, int64_t work, int64_t fatal)
{
    int64_t answer;
    if (work <= LONG_WORK) {
        return nogil_gufunc(function, data, pointers, dims, steps, work, fatal);
    }
    unsigned long switches = gil_switches();
    Py_BEGIN_ALLOW_THREADS
    answer = nogil_gufunc(function, data, pointers, dims, steps, work, fatal);
    Py_END_ALLOW_THREADS
    switches_check(switches);
    return answer;
}

int64_t
runtime_product(int64_t frame, int64_t left, int64_t right, int64_t wanted, int64_t strict, int64_t out)
{
    ErrorState saved = {NULL};
    unsigned long switches = gil_switches();
    PyObject *result = NULL; /* owned, given away */
    if (!strict || errors_raise(&saved) == 0) {
        result = PyArray_MatrixProduct2((PyObject *)left, (PyObject *)right, NULL);
    }
    errors_restore(&saved);
    switches_check(switches);
    if (PyErr_Occurred()) {
        Py_XDECREF(result);
        return exception_answer();
    }
    result = PyArray_Return((PyArrayObject *)result);
    return result == NULL ? exception_answer() : result_read(frame, (const Wanted *)wanted, result, (int64_t *)out);
}
