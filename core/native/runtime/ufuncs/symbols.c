/* Module functions for Python code: addresses of math functions and of ufunc inner loops, and probes.
 *
 * The module offers these next to the launcher. */
#include "runtime/ufuncs/symbols.h"
#include "cpython/caller.h"
#include "launcher/abi.h"
#include "runtime/arrays/array_cache.h"
#include "runtime/arrays/buffer_pool.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/reductions/pairwise_sum.h"
#include "runtime/reductions/probe.h"
#include "runtime/reductions/reduce.h"
#include "runtime/ufuncs/deferred_report.h"
#include "runtime/ufuncs/half/half_loops.h"
#include "runtime/ufuncs/half/half_scans.h"
#include "runtime/ufuncs/power.h"
#include <numpy/ufuncobject.h>
#include <string.h>
#include <math.h>

/* Functions of the process's libm, in double and float. */

/* clang-format off */
#define LIBM_FUNCTIONS(X) \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atan2) X(atanh) X(cbrt) X(ceil) X(copysign) X(cos) X(cosh) X(erf) \
    X(erfc) X(exp) X(exp2) X(expm1) X(fabs) X(floor) X(fmax) X(fmin) X(fmod) X(hypot) X(ldexp) X(lgamma) X(log) \
    X(log10) X(log1p) X(log2) X(nextafter) X(pow) X(remainder) X(rint) X(round) X(sin) X(sinh) X(sqrt) X(tan) \
    X(tanh) X(tgamma) X(trunc)

/* clang-format on */

#define LIBM_ROW(name) {#name, (void *)name}, {#name "f", (void *)name##f},

static const struct {
    const char *name;
    void *address;
} libm_rows[] = {LIBM_FUNCTIONS(LIBM_ROW)};

static PyObject *
module_libm(PyObject *module, PyObject *name)
{
    if (!PyUnicode_Check(name)) {
        return PyErr_Format(PyExc_TypeError, "name must be a str, got %R", name);
    }
    for (size_t i = 0; i < sizeof(libm_rows) / sizeof(libm_rows[0]); i++) {
        if (PyUnicode_CompareWithASCIIString(name, libm_rows[i].name) == 0) {
            return PyLong_FromVoidPtr(libm_rows[i].address);
        }
    }
    return PyErr_Format(PyExc_KeyError, "%R", name);
}

static PyObject *
module_ufunc_loop(PyObject *module, PyObject *args)
{
    PyObject *object; /* borrowed */
    int index, is_numpys = 0;
    if (!PyArg_ParseTuple(args, "O!i|p:ufunc_loop", &PyUFunc_Type, &object, &index, &is_numpys)) {
        return NULL;
    }
    PyUFuncObject *ufunc = (PyUFuncObject *)object;
    if (index < 0 || index >= ufunc->ntypes) {
        return PyErr_Format(PyExc_IndexError, "%s has %d loops, not %d", ufunc->name, ufunc->ntypes, index);
    }
    PyUFuncGenericFunction function = ufunc->functions[index];
    void *data = ufunc->data == NULL ? NULL : (void *)ufunc->data[index];
    if (is_numpys) {
        powers_replace(ufunc, index, &function, &data);
        half_loops_replace(ufunc, index, &function, &data);
    }
    return Py_BuildValue("(NN)", PyLong_FromVoidPtr((void *)function), PyLong_FromVoidPtr(data));
}

static PyObject *
module_reduce_supported(PyObject *module, PyObject *args)
{
    static const char *const names[] = {"add",  "multiply",    "minimum",    "maximum",    "fmin",
                                        "fmax", "bitwise_and", "bitwise_or", "bitwise_xor"};
    PyObject *object; /* borrowed */
    int typenum, known = 0;
    if (!PyArg_ParseTuple(args, "O!i:reduce_supported", &PyUFunc_Type, &object, &typenum)) {
        return NULL;
    }
    if (reduce_chunk == REDUCE_UNPROBED && reduce_probe() < 0) {
        return NULL;
    }
    PyUFuncObject *ufunc = (PyUFuncObject *)object;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        known |= strcmp(ufunc->name, names[i]) == 0;
    }
    return PyBool_FromLong(known && reduce_chunk != REDUCE_UNKNOWN && scalar_size(typenum) != 0
                           && uniform_loop(ufunc, typenum) >= 0);
}

static PyObject *
module_reduce_run(PyObject *module, PyObject *unused)
{
    if (reduce_chunk == REDUCE_UNPROBED && reduce_probe() < 0) {
        return NULL;
    }
    return PyLong_FromSsize_t(reduce_chunk == BUFFER_SIZE ? BUFFER_SIZE : 0);
}

static PyObject *
module_sums_known(PyObject *module, PyObject *unused)
{
    if (reduce_chunk == REDUCE_UNPROBED && reduce_probe() < 0) {
        return NULL;
    }
    return PyBool_FromLong(sums_known);
}

static PyObject *
module_half_scans_run(PyObject *module, PyObject *unused)
{
    return PyBool_FromLong(half_scans_run());
}

static PyObject *
untraced_observe(PyObject *callable, PyObject *value)
{
    PyObject *arguments = PyTuple_Pack(1, value); /* owned */
    if (arguments == NULL) {
        return NULL;
    }
    PyObject *result = untraced_call(callable, arguments); /* owned, given away */
    Py_DECREF(arguments);
    return result;
}

static PyMethodDef untraced_method = {
    "observe",
    untraced_observe,
    METH_O,
    "Calls an observer with a value, unseen by trace functions.",
};

/* untraced(callable) of the module: a NEW builtin that owns the callable. */
static PyObject *
module_untraced(PyObject *module, PyObject *callable)
{
    return PyCFunction_New(&untraced_method, callable);
}

static PyObject *
module_buffers_clear(PyObject *module, PyObject *unused)
{
    size_t bytes = pooled_bytes;
    buffers_clear();
    array_cache_clear();
    return PyLong_FromSize_t(bytes);
}

PyMethodDef symbol_functions[] = {
    {"reporter", module_reporter, METH_O, "What reports floating-point flags as the ufunc of a name does."},
    {"buffers_clear", module_buffers_clear, METH_NOARGS,
     "Frees the memory that is kept for arrays of kernels; how many bytes of large ones."},
    {"libm", module_libm, METH_O, "The address of a function of the process's libm."},
    {"ufunc_loop", module_ufunc_loop, METH_VARARGS,
     "(function address, data address) of a ufunc's inner loop, or of what gives the bits of one of NumPy's own faster."},
    {"untraced", module_untraced, METH_O, "A builtin that calls a callable with one argument, unseen by trace functions."},
    {"reduce_run", module_reduce_run, METH_NOARGS, "How many elements of a row NumPy adds up at once; 0: all."},
    {"reduce_supported", module_reduce_supported, METH_VARARGS,
     "Whether the runtime's reduce gives NumPy's bits for a ufunc and the dtype of operand and result."},
    {"sums_known", module_sums_known, METH_NOARGS, "Whether NumPy's loops add up runs of floats by halves, in eight sums."},
    {"half_scans_run", module_half_scans_run, METH_NOARGS, "Whether the runtime computes running sums of float16."},
    {NULL},
};
