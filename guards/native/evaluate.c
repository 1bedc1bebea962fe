/* pijit.guards._evaluate: guard programs and entry caches, evaluated without running user code.
 *
 *   fetch_inl.h       how each kind of source reads its value
 *   checks/           the conditions, and programs that only look at the types and layouts of roots
 *   program.h         the step list and the type Program
 *   walk.c            one evaluation
 *   cache.h           the type EntryCache
 *   roots.h           roots from Python's arguments
 *   mirror.h          comparison with the Python twin
 *   this file         the C API, the module
 *
 * Mirror mode is for tests. The Python twin (GuardProgram.compare_with_twin) repeats each evaluation, from Python or
 * through the C API. A disagreement is an AssertionError. The C API never raises: there it is reported as unraisable,
 * counted in mirror_disagreements(), and the guards count as failed. */
#include "numpy_api.h"
#include "cache.h"
#include "module_inl.h"
#include "evaluate.h"
#include "fetch_inl.h"
#include "mirror.h"
#include "program.h"
#include "trusted_getters.h"
#include "unbound.h"

/* ---- the C API ----------------------------------------------------------------------------------------- */

static int
api_program_check(PyObject *program, PyObject *const *values, Py_ssize_t nvalues, PyObject *globals, PyObject *builtins,
                  PyObject **fetched)
{
    Roots roots = {values, nvalues, globals, builtins};
    int passed = program_evaluate((ProgramObject *)program, &roots, fetched);
    if (passed < 0) {
        PyErr_WriteUnraisable(program);
        return 0;
    }
    return passed;
}

static Py_ssize_t
api_program_fetch_count(PyObject *program)
{
    return ((ProgramObject *)program)->nresults;
}

static int
api_program_is_scoped(PyObject *program)
{
    return ((ProgramObject *)program)->scoped;
}

static const LocalChecks *
api_program_local_checks(PyObject *program)
{
    return ((ProgramObject *)program)->local_checks;
}

static int
api_program_has_code(PyObject *program, int (*ask)(PyCodeObject *code))
{
    return program_has_code((ProgramObject *)program, ask);
}

static PyObject *
api_cache_lookup(PyObject *cache, PyObject *const *values, Py_ssize_t nvalues, PyObject *globals, PyObject *builtins,
                 Fetched *fetched)
{
    Roots roots = {values, nvalues, globals, builtins};
    PyObject *payload = cache_search((CacheObject *)cache, &roots, fetched); /* owned, given to the caller */
    if (payload == NULL && PyErr_Occurred()) {
        PyErr_WriteUnraisable(cache);
    }
    return payload;
}

static PyObject *
api_cache_payload(PyObject *cache, Py_ssize_t index)
{
    CacheObject *self = (CacheObject *)cache;
    return index < self->size ? self->entries[index].payload : NULL;
}

static int
api_is_program(PyObject *object)
{
    return PyObject_TypeCheck(object, &ProgramType);
}

static int
api_is_cache(PyObject *object)
{
    return PyObject_TypeCheck(object, &CacheType);
}

static GuardsAPI api = {
    GUARDS_API_VERSION,   api_program_check, api_program_fetch_count, api_program_is_scoped, api_program_local_checks,
    api_program_has_code, api_cache_lookup,  api_cache_payload,       api_is_program,        api_is_cache,
};

/* ---- the module ---------------------------------------------------------------------------------------- */

static PyObject *
module_attribute_rule(PyObject *module, PyObject *object)
{
    static const char *const names[] = {
        [ATTRIBUTES_BY_CODE] = "code",
        [ATTRIBUTES_OF_INSTANCE] = "instance",
        [ATTRIBUTES_OF_TYPE] = "type",
    };
    return PyUnicode_FromString(names[attribute_rule(object)]);
}

static PyObject *
module_find(PyObject *module, PyObject *args)
{
    PyObject *container, *key, *value = NULL; /* borrowed */
    if (!PyArg_ParseTuple(args, "OO:find", &container, &key)) {
        return NULL;
    }
    int found = PyDict_Check(container)     ? dict_find(container, key, &value)
                : PyAnySet_Check(container) ? set_find(container, key)
                                            : LOOKUP_RUNS_CODE;
    if (found == LOOKUP_RUNS_CODE) {
        PyErr_SetString(PyExc_LookupError, "a key that is compared runs code of its own");
        return NULL;
    }
    value = found == LOOKUP_ABSENT ? unbound : value != NULL ? value : key;
    Py_INCREF(value);
    return value;
}

static PyObject *
module_find_own(PyObject *module, PyObject *args)
{
    PyObject *object, *name, *value; /* borrowed */
    if (!PyArg_ParseTuple(args, "OU:find_own", &object, &name)) {
        return NULL;
    }
    if (attribute_rule(object) != ATTRIBUTES_OF_INSTANCE) {
        return PyErr_Format(PyExc_TypeError, "attributes of a %.200s are read in another way", Py_TYPE(object)->tp_name);
    }
    if (instance_find(object, name, &value) == LOOKUP_RUNS_CODE) {
        PyErr_SetString(PyExc_LookupError, "a key that is compared runs code of its own");
        return NULL;
    }
    value = value == NULL ? unbound : value;
    Py_INCREF(value);
    return value;
}

static PyObject *
module_present_dict(PyObject *Py_UNUSED(module), PyObject *object)
{
    PyObject *dict = present_dict_fetch(object); /* new: the result */
    if (dict == NULL) {
        PyErr_SetString(PyExc_TypeError, "a class, or an object that never has a dict of its own");
    }
    return dict;
}

static PyObject *
module_count_own(PyObject *Py_UNUSED(module), PyObject *object)
{
    Py_ssize_t count = own_count(object);
    if (count < 0) {
        PyErr_SetString(PyExc_TypeError, "a static class, or an object that has no plain dict of its own");
        return NULL;
    }
    return PyLong_FromSsize_t(count);
}

static PyMethodDef module_methods[] = {
    {"set_mirror", module_set_mirror, METH_O,
     "set_mirror(enabled) -> whether it was on: compare every evaluation with the Python twin."},
    {"mirror_disagreements", module_mirror_disagreements, METH_NOARGS,
     "mirror_disagreements() -> how many evaluations so far differed from the twin."},
    {"attribute_rule", module_attribute_rule, METH_O,
     "attribute_rule(object) -> 'instance', 'type' or 'code' (not at all): how its attributes may be read."},
    {"trust_getter", module_trust_getter, METH_O,
     "trust_getter(type) -> None: reads from classes may call the C function that is the __get__ of this type."},
    {"find_own", module_find_own, METH_VARARGS,
     "find_own(object, name) -> what an instance holds of its own under a name, or UNBOUND; no dict is made for it. "
     "LookupError as find."},
    {"present_dict", module_present_dict, METH_O,
     "present_dict(object) -> the dict of an instance, or None where it has none yet; none is made for it. TypeError of what never has one."},
    {"count_own", module_count_own, METH_O,
     "count_own(object) -> how many attributes an object holds of its own; no dict is made for it. TypeError of what never has one."},
    {"find", module_find, METH_VARARGS,
     "find(container, key) -> the value of a dict, the key if a set has it, or UNBOUND; LookupError where a key would be "
     "compared by code of its own."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.guards._evaluate",
    .m_doc = "Guard programs and entry caches in C; see pijit.guards.program and pijit.guards.cache.",
    .m_size = -1,
    .m_methods = module_methods,
};

/* NEW dict of operation names to numbers. */
static PyObject *
operations_as_dict(void)
{
    PyObject *numbers = PyDict_New(); /* owned */
    for (long i = 0; numbers != NULL && i < OPERATION_COUNT; i++) {
        PyObject *number = PyLong_FromLong(i); /* owned */
        if (number == NULL || PyDict_SetItemString(numbers, operation_table[i].name, number) < 0) {
            Py_CLEAR(numbers);
        }
        Py_XDECREF(number);
    }
    return numbers;
}

MODULE_INIT
PyInit__evaluate(void)
{
    if (tuple_getter_find() < 0 || unbound_ready() < 0) {
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_definition); /* owned */
    if (module == NULL) {
        return NULL;
    }
    if (module_add_type(module, "Program", &ProgramType) < 0 || module_add_type(module, "EntryCache", &CacheType) < 0
        || module_add(module, "UNBOUND", unbound) < 0 || module_give(module, "OPERATIONS", operations_as_dict()) < 0
        || module_give(module, "_C_API", PyCapsule_New(&api, GUARDS_API_CAPSULE, NULL)) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
