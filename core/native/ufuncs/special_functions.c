/* The module pijit.core._ufuncs: special functions of the C library as ufuncs, which NumPy lacks.
 *
 * core/_ufuncs.pyi has signatures and meanings. A kernel calls the loop of a ufunc like those of NumPy's own. */
#define NUMPY_API_MAIN
#include "numpy_api.h"
#include "module_inl.h"

#include <math.h>
#include <numpy/ufuncobject.h>

#define REAL npy_float
#define NAME erf_float
#define FUNCTION erff
#include "ufuncs/elementwise_loop.inc"

#define REAL npy_double
#define NAME erf_double
#define FUNCTION erf
#include "ufuncs/elementwise_loop.inc"

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
