/* Python decides once for each code object and module that calls run rewritten code (core/tape/calls.py). It remembers the
 * answer here, and forgets it when the rewritten code leaves the cache (core/tape/instrument.py). */
#include "tape/helpers/rewritten.h"
#include "cpython/function_parts_inl.h"
#include "function_code_inl.h"
#include "tape/pointer_map.h"
#include "tape/pointer_map_inl.h"

typedef struct {
    PyObject *rewritten; /* owned: the rewritten code; NULL: forgotten */
    PyObject *module;    /* owned: the __module__ of functions with this code, by identity */
} Rewritten;

static PointerMap numbers; /* by code object, which the cache in Python keeps alive */
static Rewritten *items;
static Py_ssize_t count;

PyObject *
rewritten_function(PyFunctionObject *function)
{
    Py_ssize_t at = pointer_map_get(&numbers, function_code(function));
    if (at < 0 || items[at].rewritten == NULL || items[at].module != function->func_module
        || (function->func_dict != NULL && PyDict_GetItemString(function->func_dict, "tape_aware") != NULL)) {
        return NULL;
    }
    return function_with_code(function, items[at].rewritten);
}

PyObject *
rewritten_remember(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code, *rewritten, *name; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!O!O:remember_rewritten", &PyCode_Type, &code, &PyCode_Type, &rewritten, &name)) {
        return NULL;
    }
    Py_ssize_t at = pointer_map_get(&numbers, code);
    if (at < 0) {
        Rewritten *grown = PyMem_Realloc(items, (size_t)(count + 1) * sizeof(Rewritten));
        if (grown == NULL) {
            return PyErr_NoMemory();
        }
        items = grown;
        items[count] = (Rewritten){NULL, NULL};
        if (pointer_map_set(&numbers, code, count) < 0) {
            return NULL;
        }
        at = count++;
    }
    Py_INCREF(rewritten);
    Py_XSETREF(items[at].rewritten, rewritten);
    Py_INCREF(name);
    Py_XSETREF(items[at].module, name);
    Py_RETURN_NONE;
}

PyObject *
rewritten_forget(PyObject *Py_UNUSED(module), PyObject *code)
{
    Py_ssize_t at = pointer_map_get(&numbers, code);
    if (at >= 0) {
        Py_CLEAR(items[at].rewritten);
        Py_CLEAR(items[at].module);
    }
    Py_RETURN_NONE;
}
