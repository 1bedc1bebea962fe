/* pijit.guards._evaluate: guard programs and entry caches, evaluated without running user code.
 *
 *   fetch_inl.h     how each kind of source reads its value
 *   check_inl.h     the conditions
 *   program.h   the step list, the type Program, one evaluation
 *   cache.h     the type EntryCache
 *   this file   Python's interface to programs, the Python twin in mirror mode, the C API, the module
 *
 * All are one translation unit, so that a step costs a predicted branch and no call. An evaluation walks its steps
 * once. It keeps fetched objects in registers on the C stack and allocates nothing, except one block for programs of
 * more than 64 registers. No exception leaves an evaluation: an exception during a fetch fails the guard.
 *
 * Mirror mode is for tests. The Python twin (GuardProgram.compare_with_twin) repeats each evaluation, from Python or
 * through the C API. A disagreement is an AssertionError. The C API never raises: there it is reported as unraisable,
 * counted in mirror_disagreements(), and the guards count as failed. */
#define NUMPY_API_MAIN
#include "numpy_api.h"
#include "evaluate.h"
#include "program.h"
#include "cache.h"
#include "unbound.h"

/* Parse the arguments (values, globals, builtins) of a Python call as roots. Returns the tuple that owns the values,
 * NEW. The caller frees the array in roots->values. */
static PyObject *
roots_parse(PyObject *args, Roots *roots)
{
    PyObject *values; /* borrowed */
    if (!PyArg_ParseTuple(args, "OOO", &values, &roots->globals, &roots->builtins)) {
        return NULL;
    }
    PyObject *holder = PySequence_Tuple(values); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    roots->nvalues = PyTuple_GET_SIZE(holder);
    PyObject **array = PyMem_Calloc((size_t)roots->nvalues + 1, sizeof(PyObject *));
    if (array == NULL) {
        Py_DECREF(holder);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < roots->nvalues; i++) {
        PyObject *value = PyTuple_GET_ITEM(holder, i);
        array[i] = value == unbound ? NULL : value;
    }
    roots->values = array;
    return holder;
}

static void
roots_release(Roots *roots, PyObject *holder)
{
    PyMem_Free((void *)roots->values);
    Py_DECREF(holder);
}

#include "mirror.h"

/* ---- Program and EntryCache from Python ---------------------------------------------------------------- */

static PyObject *
program_check(ProgramObject *self, PyObject *args)
{
    Roots roots;
    PyObject *holder = roots_parse(args, &roots); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    PyObject *result = NULL; /* owned */
    /* items owned after a pass */
    PyObject **fetched = PyMem_Calloc((size_t)self->nresults + 1, sizeof(PyObject *));
    if (fetched == NULL) {
        PyErr_NoMemory();
        goto error;
    }
    int passed = program_evaluate(self, &roots, fetched);
    if (passed == 0) {
        Py_INCREF(Py_None);
        result = Py_None;
    }
    else if (passed > 0) {
        result = objects_as_list(fetched, self->nresults);
        for (Py_ssize_t i = 0; i < self->nresults; i++) {
            Py_DECREF(fetched[i]);
        }
    }
error:
    PyMem_Free(fetched);
    roots_release(&roots, holder);
    return result;
}

static PyObject *
program_failures_get(ProgramObject *self, void *unused)
{
    Py_ssize_t count = PyTuple_GET_SIZE(self->guards);
    PyObject *list = PyList_New(count); /* owned */
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLongLong(self->failures[i]); /* owned, given to the list */
        if (number == NULL) {
            Py_CLEAR(list);
            break;
        }
        PyList_SET_ITEM(list, i, number);
    }
    return list;
}

static PyObject *
program_last_failed_get(ProgramObject *self, void *unused)
{
    PyObject *guard = self->last_failed < 0 ? Py_None : PyTuple_GET_ITEM(self->guards, self->last_failed);
    Py_INCREF(guard);
    return guard;
}

static PyObject *
program_dead_get(ProgramObject *self, void *unused)
{
    return PyBool_FromLong(program_is_dead(self));
}

static PyObject *
program_retire(ProgramObject *self, PyObject *unused)
{
    self->retired = 1;
    Py_RETURN_NONE;
}

static PyMethodDef program_methods[] = {
    {"retire", (PyCFunction)program_retire, METH_NOARGS, "retire() -> None: never hold again."},
    {"check", (PyCFunction)program_check, METH_VARARGS,
     "check(values, globals, builtins) -> list of fetched objects if all guards hold, else None."},
    {NULL},
};

static PyMemberDef program_members[] = {
    {"guards", T_OBJECT_EX, offsetof(ProgramObject, guards), READONLY, "The guards, in the given order."},
    {"fetch", T_OBJECT_EX, offsetof(ProgramObject, fetch), READONLY, "The sources fetched for the caller."},
    {"hits", T_ULONGLONG, offsetof(ProgramObject, hits), READONLY, "Evaluations in which all guards held."},
    {"misses", T_ULONGLONG, offsetof(ProgramObject, misses), READONLY, "Evaluations in which a guard failed."},
    {"retired", T_BOOL, offsetof(ProgramObject, retired), READONLY, "Whether retire() was called."},
    {NULL},
};

static PyGetSetDef program_getset[] = {
    {"failures", (getter)program_failures_get, NULL, "How often each guard failed, in the order of guards.", NULL},
    {"last_failed", (getter)program_last_failed_get, NULL,
     "The guard that failed last; None if none did, or if it was a fetch source that was absent.", NULL},
    {"dead", (getter)program_dead_get, NULL, "Whether a guarded object is gone: the guards never hold again.", NULL},
    {NULL},
};

static PyTypeObject ProgramType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.guards._evaluate.Program",
    .tp_doc = "Program(guards, fetch, steps, results, borrowed, registers): what GuardProgram compiles to.",
    .tp_basicsize = sizeof(ProgramObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .tp_new = program_new,
    .tp_dealloc = (destructor)program_dealloc,
    .tp_traverse = (traverseproc)program_traverse,
    .tp_methods = program_methods,
    .tp_members = program_members,
    .tp_getset = program_getset,
};

static PyObject *
cache_lookup(CacheObject *self, PyObject *args)
{
    Roots roots;
    PyObject *holder = roots_parse(args, &roots); /* owned */
    if (holder == NULL) {
        return NULL;
    }
    PyObject *payload = cache_search(self, &roots, NULL); /* owned */
    if (payload == NULL && !PyErr_Occurred()) {
        Py_INCREF(Py_None);
        payload = Py_None;
    }
    roots_release(&roots, holder);
    return payload;
}

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
api_program_has_code(PyObject *program, int (*ask)(PyCodeObject *code))
{
    ProgramObject *self = (ProgramObject *)program;
    int found = 0;
    for (Py_ssize_t i = 0; i < self->nsteps && !found; i++) {
        PyObject *code = self->steps[i].operation == CHECK_CODE ? referent(self->steps[i].object) : NULL; /* owned */
        found = code != NULL && PyCode_Check(code) && ask((PyCodeObject *)code);
        Py_XDECREF(code);
    }
    return found;
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
    GUARDS_API_VERSION, api_program_check, api_program_fetch_count, api_program_has_code,
    api_cache_lookup,   api_cache_payload, api_is_program,          api_is_cache,
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
        PyErr_SetString(PyExc_TypeError, "a class, or an object that has no plain dict of its own");
        return NULL;
    }
    return PyLong_FromSsize_t(count);
}

static PyObject *
module_trust_getter(PyObject *module, PyObject *type)
{
    if (!PyType_Check(type) || ((PyTypeObject *)type)->tp_descr_get == NULL) {
        return PyErr_Format(PyExc_TypeError, "type must be a class with __get__, not %R", type);
    }
    trusted_getter = ((PyTypeObject *)type)->tp_descr_get;
    Py_RETURN_NONE;
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
     "count_own(object) -> how many attributes an instance holds of its own; no dict is made for it. TypeError of what never has one."},
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

/* Steals `object`, which may be NULL after a failure. */
static int
module_add(PyObject *module, const char *name, PyObject *object)
{
    if (object == NULL) {
        return -1;
    }
    if (PyModule_AddObject(module, name, object) < 0) {
        Py_DECREF(object);
        return -1;
    }
    return 0;
}

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

static PyObject *
object_shared(void *object)
{
    Py_INCREF((PyObject *)object);
    return object;
}

MODULE_INIT
PyInit__evaluate(void)
{
    import_array();
    if (tuple_getter_find() < 0 || PyType_Ready(&UnboundType) < 0 || PyType_Ready(&ProgramType) < 0
        || PyType_Ready(&CacheType) < 0) {
        return NULL;
    }
    if (unbound == NULL) {
        unbound = PyObject_New(PyObject, &UnboundType);
    }
    PyObject *module = unbound != NULL ? PyModule_Create(&module_definition) : NULL; /* owned */
    if (module == NULL) {
        return NULL;
    }
    if (module_add(module, "Program", object_shared(&ProgramType)) < 0
        || module_add(module, "EntryCache", object_shared(&CacheType)) < 0
        || module_add(module, "UNBOUND", object_shared(unbound)) < 0
        || module_add(module, "OPERATIONS", operations_as_dict()) < 0
        || module_add(module, "_C_API", PyCapsule_New(&api, GUARDS_API_CAPSULE, NULL)) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}
