/* Output codes of a launcher are run here: objects are made from frame words, or from the values of a Python kernel. */
#include "launcher/marshal/outputs.h"
#include "cpython/caller.h"
#include "launcher/marshal/generators.h"
#include "launcher/marshal/iterators.h"
#include "launcher/marshal/outputs_inl.h"
#include "launcher/marshal/words_inl.h"
#include "runtime/objects/instances.h"
#include <numpy/arrayscalars.h>
#include <stddef.h>
#include <string.h>

/* The layouts that SCALAR_VALUE depends on. */
typedef char check_double_scalar[offsetof(PyDoubleScalarObject, obval) == sizeof(PyObject) ? 1 : -1];
typedef char check_byte_scalar[offsetof(PyByteScalarObject, obval) == sizeof(PyObject) ? 1 : -1];
typedef char check_complex_scalar[offsetof(PyCDoubleScalarObject, obval) == sizeof(PyObject) ? 1 : -1];

static PyObject *
native_value(const Output *output, ValueSource *source)
{
    const int64_t *words = source->frame + output->word;
    switch (output->kind) {
    case OUT_INT: return PyLong_FromLongLong(words[0]);
    case OUT_FLOAT: return PyFloat_FromDouble(double_from_word(words[0]));
    case OUT_BOOL: return PyBool_FromLong(words[0] != 0);
    case OUT_COMPLEX: return PyComplex_FromDoubles(double_from_word(words[0]), double_from_word(words[1]));
    case OUT_SCALAR: return scalar_box((PyTypeObject *)output->object, output->typenum, words);
    case OUT_OBJECT: return object_build(words[0]);
    case OUT_RANGE: return range_build(words);
    case OUT_RANGE_ITERATOR: return range_iterator_build(words);
    default: break;
    }
    PyErr_SetString(PyExc_SystemError, "unknown output code");
    return NULL;
}

/* The next object of a Python kernel's answer. */
static PyObject *
python_value(ValueSource *source)
{
    if (source->next >= PyTuple_GET_SIZE(source->answer)) {
        PyErr_SetString(PyExc_SystemError, "a Python kernel returned too few values");
        return NULL;
    }
    PyObject *value = PyTuple_GET_ITEM(source->answer, source->next++); /* borrowed, then the result */
    Py_INCREF(value);
    return value;
}

/* Read `count` raw words of an output; 0, or -1 with an exception set. */
static int
words_read(const Output *output, ValueSource *source, int64_t *words, Py_ssize_t count)
{
    if (source->answer == NULL) {
        memcpy(words, source->frame + output->word, count * sizeof(int64_t));
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = python_value(source); /* owned */
        if (value == NULL) {
            return -1;
        }
        words[i] = PyLong_AsLongLong(value);
        Py_DECREF(value);
        if (words[i] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

/* The iterator of an input, moved to its new position. */
static PyObject *
advance_build(const Output *output, ValueSource *source)
{
    PyObject *iterator = source->fetched[output->input]; /* borrowed, then the result */
    Py_ssize_t count = output->steps;
    int64_t *words = PyMem_Malloc((count + 1) * sizeof(int64_t));
    if (words == NULL) {
        return PyErr_NoMemory();
    }
    int status = words_read(output, source, words, count);
    if (status == 0) {
        iterator_move(output->moved, iterator, words);
        Py_INCREF(iterator);
    }
    PyMem_Free(words);
    return status == 0 ? iterator : NULL;
}

/* A new iterator over the object of its one part. */
static PyObject *
iterator_build(const Output *output, ValueSource *source)
{
    PyObject *result = NULL; /* new: the result */
    int64_t words[3] = {0};
    PyObject *part = output_build(output->items, source); /* owned */
    if (part == NULL) {
        return NULL;
    }
    if (output->kind >= OUT_STEPPED && output->kind <= OUT_STEPPED_ITEMS) {
        result = stepped_build(part, output->kind, output->steps);
    }
    else if (output->kind >= OUT_DICT_KEYS) {
        result = words_read(output, source, words, 3) < 0 ? NULL
                 : output->kind == OUT_SET_ITERATOR       ? set_iterator_build(part, words)
                                                          : dict_iterator_build(part, output->kind, words);
    }
    else if (words_read(output, source, words, 1) == 0) {
        result = output->kind == OUT_ENUMERATE
                     ? PyObject_CallFunction((PyObject *)&PyEnum_Type, "OL", part, (long long)words[0])
                     : sequence_iterator_build(part, output->kind, words[0]);
    }
    Py_DECREF(part);
    return result;
}

static PyObject *
tuple_build(const Output *output, ValueSource *source)
{
    PyObject *result = PyTuple_New(output->count); /* new: the result */
    for (Py_ssize_t i = 0; result != NULL && i < output->count; i++) {
        PyObject *item = output_build(&output->items[i], source); /* moved into the tuple */
        if (item == NULL) {
            Py_CLEAR(result);
            break;
        }
        PyTuple_SET_ITEM(result, i, item);
    }
    return result;
}

/* A new object, or the one whose address is in the word. OUT_AGAIN outputs of the exit may refer to it. */
static PyObject *
instance_build(const Output *output, ValueSource *source)
{
    int64_t origin = 0;
    PyObject *result = NULL;                       /* new: the result */
    PyObject *parts = tuple_build(output, source); /* owned */
    if (parts == NULL || (output->kind != OUT_INSTANCE && words_read(output, source, &origin, 1) < 0)) {
        Py_XDECREF(parts);
        return NULL;
    }
    if (origin != 0 && output->kind == OUT_KEPT_INSTANCE) {
        result = (PyObject *)origin;
        Py_INCREF(result);
    }
    else {
        result = instance_make((PyObject *)origin, PyTuple_GET_ITEM(parts, 0), output->object, &PyTuple_GET_ITEM(parts, 1));
    }
    Py_DECREF(parts);
    if (result != NULL && source->instances == NULL) {
        source->instances = PyList_New(0);
    }
    if (result != NULL && (source->instances == NULL || PyList_Append(source->instances, result) < 0)) {
        Py_CLEAR(result);
    }
    return result;
}

/* The object that an earlier output of the exit has made. */
static PyObject *
again_build(const Output *output, ValueSource *source)
{
    if (source->instances == NULL || output->input >= PyList_GET_SIZE(source->instances)) {
        PyErr_SetString(PyExc_SystemError, "an exit hands over an object before it is made");
        return NULL;
    }
    PyObject *result = PyList_GET_ITEM(source->instances, output->input); /* borrowed, then the result */
    Py_INCREF(result);
    return result;
}

/* A function with `globals`, a NEW reference, or NULL with an exception set; the values are its code, its qualified name, then its cells. */
static PyObject *
function_make(PyObject *values, PyObject *globals)
{
    Py_ssize_t count = PyTuple_GET_SIZE(values);
    PyObject *function = PyFunction_NewWithQualName(PyTuple_GET_ITEM(values, 0), globals,
                                                    PyTuple_GET_ITEM(values, 1)); /* new: the result */
    if (function == NULL || count == 2) {
        return function;
    }
    PyObject *closure = PyTuple_GetSlice(values, 2, count); /* owned */
    if (closure == NULL || PyFunction_SetClosure(function, closure) < 0) {
        Py_CLEAR(function);
    }
    Py_XDECREF(closure);
    return function;
}

/* The result of a call of the first part, which runs no Python code, with the other parts. */
static PyObject *
called_build(PyObject *parts)
{
    PyObject *arguments = PyTuple_GetSlice(parts, 1, PyTuple_GET_SIZE(parts)); /* owned */
    PyObject *result = arguments == NULL ? NULL
                                         : PyObject_Call(PyTuple_GET_ITEM(parts, 0), arguments, NULL); /* new: the result */
    Py_XDECREF(arguments);
    return result;
}

/* The object made from a tuple of its parts. */
static PyObject *
composite_build(const Output *output, ValueSource *source)
{
    PyObject *parts = tuple_build(output, source); /* owned */
    PyObject *result;                              /* new: the result */
    if (parts == NULL) {
        return NULL;
    }
    switch (output->kind) {
    case OUT_ZIP: result = PyObject_Call((PyObject *)&PyZip_Type, parts, NULL); break;
    case OUT_MAP: result = PyObject_Call((PyObject *)&PyMap_Type, parts, NULL); break;
    case OUT_FILTER: result = PyObject_Call((PyObject *)&PyFilter_Type, parts, NULL); break;
    case OUT_CALLED: result = called_build(parts); break;
    case OUT_FUNCTION: {
        PyObject *globals = source->globals != NULL ? source->globals : caller_globals(PyThreadState_Get()); /* borrowed */
        result = function_make(parts, globals);
        break;
    }
    default: result = generator_make(output->object, parts); break;
    }
    Py_DECREF(parts);
    return result;
}

PyObject *
output_build(const Output *output, ValueSource *source)
{
    PyObject *result; /* new: the result */

    switch (output->kind) {
    case OUT_FETCHED:
        result = source->fetched[output->input];
        Py_INCREF(result);
        return result;
    case OUT_CONST: Py_INCREF(output->object); return output->object;
    case OUT_TUPLE: return tuple_build(output, source);
    case OUT_ZIP:
    case OUT_MAP:
    case OUT_FILTER:
    case OUT_CALLED:
    case OUT_FUNCTION:
    case OUT_GENERATOR: return composite_build(output, source);
    case OUT_INSTANCE:
    case OUT_KEPT_INSTANCE:
    case OUT_CHANGED_INSTANCE: return instance_build(output, source);
    case OUT_AGAIN: return again_build(output, source);
    case OUT_SEQUENCE_ITERATOR:
    case OUT_LIST_ITERATOR:
    case OUT_REVERSED_ITERATOR:
    case OUT_ENUMERATE:
    case OUT_DICT_KEYS:
    case OUT_DICT_VALUES:
    case OUT_DICT_ITEMS:
    case OUT_SET_ITERATOR:
    case OUT_STEPPED:
    case OUT_STEPPED_REVERSED:
    case OUT_STEPPED_VALUES:
    case OUT_STEPPED_ITEMS: return iterator_build(output, source);
    case OUT_ADVANCE: return advance_build(output, source);
    default: return source->answer != NULL ? python_value(source) : native_value(output, source);
    }
}
