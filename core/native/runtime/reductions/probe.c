/* Probe of NumPy's reductions: finds the lengths of the runs that NumPy passes to a loop.
 *
 * It compares sums of numbers that round differently if the runs differ. */
#include "runtime/reductions/probe.h"
#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include "runtime/iteration/iteration_plan.h"
#include "runtime/reductions/pairwise_sum.h"
#include "runtime/reductions/reduce.h"
#include <numpy/ufuncobject.h>

int
uniform_loop(const PyUFuncObject *ufunc, int typenum)
{
    for (int i = 0; ufunc->nin == 2 && ufunc->nout == 1 && i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + 3 * i;
        if (types[0] == typenum && types[1] == typenum && types[2] == typenum) {
            return i;
        }
    }
    return -1;
}

/* The sum that np.add.reduce computes of PROBE_SIZE doubles if its runs have `chunk` elements. */
static double
probe_sum(const PyUFuncObject *add, int loop, const double *values, npy_intp chunk)
{
    double total = 0.0;
    Reduction reduction = {add->functions[loop], add->data == NULL ? NULL : (void *)add->data[loop]};
    for (npy_intp start = 0; start < PROBE_SIZE; start += chunk) {
        run_reduce(&reduction, (char *)&total, (char *)(values + start), sizeof(double), chunk);
    }
    return total;
}

/* True if pairwise_sum.h gives the sums of NumPy's loops. Overwrites `values`. */
static int
sums_probe(PyUFuncObject *add, double *values)
{
    static const int kinds[] = {NPY_DOUBLE, NPY_FLOAT};
    int known = SUM_CODE_RUNS;
    for (int k = 0; k < 2 && known; k++) {
        int loop = uniform_loop(add, kinds[k]);
        known = loop >= 0
                && sums_agree(add->functions[loop], add->data == NULL ? NULL : (void *)add->data[loop], kinds[k], values);
    }
    return known;
}

int
reduce_probe(void)
{
    int status = -1;
    npy_intp length = PROBE_SIZE;
    PyObject *numpy = NULL, *add = NULL, *array = NULL, *sum = NULL; /* owned */
    double expected;

    numpy = PyImport_ImportModule("numpy");
    add = numpy == NULL ? NULL : PyObject_GetAttrString(numpy, "add");
    array = add == NULL ? NULL : PyArray_SimpleNew(1, &length, NPY_DOUBLE);
    if (array == NULL) {
        goto error;
    }
    double *values = PyArray_DATA((PyArrayObject *)array);
    for (npy_intp i = 0; i < length; i++) {
        values[i] = (double)(int32_t)((uint32_t)i * 2654435761u) / 3.0;
    }
    sum = PyObject_CallMethod(add, "reduce", "O", array);
    expected = sum == NULL ? -1.0 : PyFloat_AsDouble(sum);
    if (PyErr_Occurred()) {
        goto error;
    }
    int loop = PyObject_TypeCheck(add, &PyUFunc_Type) ? uniform_loop((PyUFuncObject *)add, NPY_DOUBLE) : -1;
    reduce_chunk = REDUCE_UNKNOWN;
    double by_chunks = loop < 0 ? 0.0 : probe_sum((PyUFuncObject *)add, loop, values, BUFFER_SIZE);
    double whole = loop < 0 ? 0.0 : probe_sum((PyUFuncObject *)add, loop, values, PROBE_SIZE);
    if (by_chunks != whole && expected == (iterator_plans ? whole : by_chunks)) {
        reduce_chunk = iterator_plans ? WHOLE_ROWS : BUFFER_SIZE;
        sums_known = sums_probe((PyUFuncObject *)add, values);
    }
    status = 0;
error:
    Py_XDECREF(numpy);
    Py_XDECREF(add);
    Py_XDECREF(array);
    Py_XDECREF(sum);
    return status;
}
