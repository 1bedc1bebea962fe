/* Construction of functions, cells and objects of C classes in kernels.
 *
 * For other objects see construct.c. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/construct.h"

int64_t
runtime_new_cell(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *content = spec_box(spec, 0);                         /* owned */
    PyObject *cell = content != NULL ? PyCell_New(content) : NULL; /* owned, moved to the frame */
    Py_XDECREF(content);
    return spec_answer(frame, spec, cell);
}

/* Object number `index` of a spec, borrowed. NULL stands for None. */
static PyObject *
spec_part(const int64_t *spec, int64_t index)
{
    PyObject *part = (PyObject *)spec[SPEC_WORDS * index + 1];
    return part == Py_None ? NULL : part;
}

enum {
    FUNCTION_CODE,
    FUNCTION_GLOBALS,
    FUNCTION_NAME,
    FUNCTION_DEFAULTS,
    FUNCTION_NAMED,
    FUNCTION_ANNOTATIONS,
    FUNCTION_CELLS
};

/* Sets the fields that MAKE_FUNCTION sets. Annotations are a dict, or from CPython 3.10 on a tuple. Returns -1 with an
 * exception set on failure. */
static int
function_fill(PyObject *function, const int64_t *spec, int64_t count)
{
    PyObject *defaults = spec_part(spec, FUNCTION_DEFAULTS);       /* borrowed */
    PyObject *named = spec_part(spec, FUNCTION_NAMED);             /* borrowed */
    PyObject *annotations = spec_part(spec, FUNCTION_ANNOTATIONS); /* borrowed */
    if (defaults != NULL && PyFunction_SetDefaults(function, defaults) < 0) {
        return -1;
    }
    if (named != NULL && PyFunction_SetKwDefaults(function, named) < 0) {
        return -1;
    }
    if (annotations != NULL) {
        Py_INCREF(annotations);
        Py_XSETREF(((PyFunctionObject *)function)->func_annotations, annotations);
    }
    if (count == FUNCTION_CELLS) {
        return 0;
    }
    PyObject *closure = PyTuple_New(count - FUNCTION_CELLS); /* owned */
    if (closure == NULL) {
        return -1;
    }
    for (int64_t i = FUNCTION_CELLS; i < count; i++) {
        PyObject *cell = (PyObject *)spec[SPEC_WORDS * i + 1];
        Py_INCREF(cell);
        PyTuple_SET_ITEM(closure, i - FUNCTION_CELLS, cell);
    }
    int status = PyFunction_SetClosure(function, closure);
    Py_DECREF(closure);
    return status;
}

int64_t
runtime_new_function(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *function = PyFunction_NewWithQualName(spec_part(spec, FUNCTION_CODE), spec_part(spec, FUNCTION_GLOBALS),
                                                    spec_part(spec, FUNCTION_NAME)); /* owned, moved to the frame */
    if (function != NULL && function_fill(function, spec, count) < 0) {
        Py_CLEAR(function);
    }
    return spec_answer(frame, spec, function);
}

/* The values are a callable, a tuple of names, and arguments. The names are those of the last arguments. */
int64_t
runtime_new_object(int64_t frame, int64_t count, int64_t address)
{
    int64_t *spec = (int64_t *)address;
    PyObject *names = (PyObject *)spec[SPEC_WORDS + 1]; /* borrowed */
    Py_ssize_t plain = (Py_ssize_t)count - 2 - PyTuple_GET_SIZE(names);
    PyObject *made = NULL;                                              /* owned, moved to the frame */
    PyObject *arguments = PyTuple_New(plain), *keywords = PyDict_New(); /* owned */
    int failed = arguments == NULL || keywords == NULL;
    for (Py_ssize_t i = 0; !failed && i < (Py_ssize_t)count - 2; i++) {
        PyObject *value = spec_box(spec, i + 2); /* owned */
        if (value != NULL && i < plain) {
            PyTuple_SET_ITEM(arguments, i, value);
            continue;
        }
        failed = value == NULL || PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i - plain), value) < 0;
        Py_XDECREF(value);
    }
    if (!failed) {
        made = PyObject_Call((PyObject *)spec[1], arguments, keywords);
    }
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return spec_answer(frame, spec, made);
}
