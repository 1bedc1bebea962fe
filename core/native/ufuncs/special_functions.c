/* The module pijit.core._ufuncs: special functions of the C library as ufuncs, which NumPy lacks.
 *
 * core/_ufuncs.pyi has signatures and meanings. A kernel calls the loop of a ufunc like those of NumPy's own. */
#define NUMPY_API_MAIN
#include "numpy_api.h"
#include "module_inl.h"

#include <math.h>
#include <numpy/ufuncobject.h>

/* One loop over elements of a type: `function` gives the result of one element. */
#define ELEMENTWISE_LOOP(name, type, function) \
    static void name(char **data, const npy_intp *counts, const npy_intp *steps, void *Py_UNUSED(unused)) \
    { \
        const char *in = data[0]; \
        char *out = data[1]; \
        for (npy_intp i = 0; i < counts[0]; i++, in += steps[0], out += steps[1]) { \
            *(type *)out = function(*(const type *)in); \
        } \
    }

ELEMENTWISE_LOOP(erf_float, npy_float, erff)
ELEMENTWISE_LOOP(erf_double, npy_double, erf)

/* NumPy keeps pointers to these tables: they live as long as the ufunc. */
static PyUFuncGenericFunction erf_loops[] = {(PyUFuncGenericFunction)erf_float, (PyUFuncGenericFunction)erf_double};
static char erf_types[] = {NPY_FLOAT, NPY_FLOAT, NPY_DOUBLE, NPY_DOUBLE};
static void *erf_data[] = {NULL, NULL};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.core._ufuncs",
    .m_doc = "Special functions as ufuncs.",
    .m_size = -1,
};

/* Add the ufuncs to a new module: 0, or -1 with an exception set. */
static int
module_fill(PyObject *module)
{
    PyObject *made = PyUFunc_FromFuncAndData(erf_loops, erf_data, erf_types, 2, 1, 1, PyUFunc_None, "erf",
                                             "erf(x, /, out=None, *, where=True, ...)\n\nThe error function of each element.",
                                             0); /* owned, given away */
    return module_give(module, "erf", made);
}

MODULE_INIT
PyInit__ufuncs(void)
{
    if (_import_array() < 0 || _import_umath() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition); /* owned, given away */
    if (module != NULL && module_fill(module) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
