/* The module pijit.core._tape: the tape of gradients, and the helpers that record operations on it.
 *
 * core/_tape.pyi has signatures and meanings. core/tape/ has all that is not in C: values of other kinds than plain numbers
 * and arrays, several tapes at once, and functions that are not elementwise. */
#define NUMPY_API_MAIN
#include "numpy_api.h"
#include "capsule_inl.h"
#include "module_inl.h"
#include "tape/helpers/access.h"
#include "tape/helpers/helpers.h"
#include "tape/memory.h"
#include "tape/places.h"
#include "tape/recording.h"
#include "tape/helpers/rewritten.h"
#include "tape/rule.h"
#include "tape/run.h"
#include "tape/tape.h"

static PyObject *
module_overlaps_itself(PyObject *Py_UNUSED(module), PyObject *x)
{
    if (!PyArray_Check(x)) {
        return PyErr_Format(PyExc_TypeError, "overlaps_itself: x must be an array, not %.200s", Py_TYPE(x)->tp_name);
    }
    return PyBool_FromLong(overlaps_itself((PyArrayObject *)x));
}

static PyMethodDef functions[] = {
    {"set_tapes", recording_set_tapes, METH_O, NULL},
    {"set_instrumented", places_set_instrumented, METH_VARARGS, NULL},
    {"is_instrumented", places_is_instrumented, METH_O, NULL},
    {"user_place", places_user_place, METH_NOARGS, NULL},
    {"remember_rewritten", rewritten_remember, METH_VARARGS, NULL},
    {"forget_rewritten", rewritten_forget, METH_O, NULL},
    {"overlaps_itself", module_overlaps_itself, METH_O, NULL},
    {"operator_helper", helper_operator, METH_VARARGS, NULL},
    {"load_helper", helper_load, METH_O, NULL},
    {"store_slot_helper", helper_store_slot, METH_O, NULL},
    {"attribute_helper", helper_attribute, METH_O, NULL},
    {"store_attribute_helper", helper_store_attribute, METH_O, NULL},
    {"truth_helper", helper_truth, METH_O, NULL},
    {"site_helper", helper_site, METH_VARARGS, NULL},
    {"call_helper", helper_call, METH_VARARGS, NULL},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.core._tape",
    .m_size = -1,
    .m_methods = functions,
};

/* Fill a new module: 0, or -1 with an exception set. */
static int
module_fill(PyObject *module)
{
    if (run_ready() < 0 || PyType_Ready(&Operator_Type) < 0 || PyType_Ready(&Access_Type) < 0
        || PyType_Ready(&Callees_Type) < 0 || module_add_type(module, "Tape", &Tape_Type) < 0
        || module_add_type(module, "Memory", &Memory_Type) < 0 || module_add_type(module, "Rule", &Rule_Type) < 0
        || PyModule_AddIntConstant(module, "MOST_OPERANDS", MOST_OPERANDS) < 0) {
        return -1;
    }
    return module_add(module, "plain_run", plain_run);
}

MODULE_INIT
PyInit__tape(void)
{
    if (_import_array() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&definition); /* owned, given away */
    if (module != NULL && module_fill(module) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
