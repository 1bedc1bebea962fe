/* Helpers for attributes and truth tests: accesses that run no code in Python are made here. */
#include "tape/helpers/helpers.h"
#include "tape/helpers/access.h"
#include "cpython/vectorcall/vectorcall_inl.h"
#include "tape/recording.h"
#include "tape/values_inl.h"

/* Whether an object is of a type in C whose objects have no code of the program's. */
static int
is_builtin(PyObject *x)
{
    PyTypeObject *type = Py_TYPE(x);
    return type == &PyModule_Type || type == &PyList_Type || type == &PyTuple_Type || type == &PyDict_Type
           || type == &PyUnicode_Type || type == &PySet_Type || type == &PyBytes_Type || type == &PyRange_Type;
}

/* Whether a class finds an attribute without code in Python, also if it is an attribute of the object. */
static int
finds_without_code(PyTypeObject *type, PyObject *name)
{
    PyObject *found = _PyType_Lookup(type, name); /* borrowed */
    return found == NULL || Py_TYPE(found) == &PyFunction_Type
           || (!(Py_TYPE(found)->tp_flags & Py_TPFLAGS_HEAPTYPE) && !PyObject_TypeCheck(found, &PyProperty_Type));
}

/* Whether the attributes of an object are those of `object`, and it is no number or array. */
static int
is_ordinary(PyObject *x)
{
    return Py_TYPE(x)->tp_getattro == PyObject_GenericGetAttr && !PyArray_Check(x) && !PyArray_IsScalar(x, Generic)
           && !PyFloat_Check(x) && !PyComplex_Check(x) && !PyLong_Check(x);
}

/* Whether an attribute of an array or a number is read as it is: views have the adjoint of their owner. */
static int
is_read_plainly(PyObject *x, PyObject *name)
{
    if (!is_plain(x) || !PyUnicode_Check(name)) {
        return 0;
    }
    return PyArray_CheckExact(x)
               ? PyUnicode_CompareWithASCIIString(name, "flat") != 0
               : PyUnicode_CompareWithASCIIString(name, "real") != 0 && PyUnicode_CompareWithASCIIString(name, "imag") != 0;
}

/* attribute(x, name) */
static PyObject *
attribute_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 2
        && (recording.count == 0 || is_builtin(args[0]) || is_read_plainly(args[0], args[1])
            || (is_ordinary(args[0]) && finds_without_code(Py_TYPE(args[0]), args[1])))) {
        return PyObject_GetAttr(args[0], args[1]);
    }
    return vector_call(access_other(helper), args, nargs, NULL);
}

/* store_attribute((value, x), name) */
static PyObject *
store_attribute_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 2 && PyTuple_CheckExact(args[0]) && PyTuple_GET_SIZE(args[0]) == 2) {
        PyObject *value = PyTuple_GET_ITEM(args[0], 0), *x = PyTuple_GET_ITEM(args[0], 1); /* borrowed */
        if (recording.count == 0
            || (is_ordinary(x) && Py_TYPE(x)->tp_setattro == PyObject_GenericSetAttr
                && finds_without_code(Py_TYPE(x), args[1]))) {
            if (PyObject_SetAttr(x, args[1], value) < 0) {
                return NULL;
            }
            Py_RETURN_NONE;
        }
    }
    return vector_call(access_other(helper), args, nargs, NULL);
}

/* truth(x) */
static PyObject *
truth_call(PyObject *helper, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs == 1 && (args[0] == Py_None || is_plain(args[0]) || is_builtin(args[0]))) {
        Py_INCREF(args[0]);
        return args[0];
    }
    return vector_call(access_other(helper), args, nargs, NULL);
}

/* ---- Helpers ---------------------------------------------------------------------------------------------- */

static PyMethodDef attribute_definition = {"attribute", (PyCFunction)(void (*)(void))attribute_call, METH_FASTCALL, NULL};
static PyMethodDef store_definition = {"store_attribute", (PyCFunction)(void (*)(void))store_attribute_call, METH_FASTCALL,
                                       NULL};
static PyMethodDef truth_definition = {"truth", (PyCFunction)(void (*)(void))truth_call, METH_FASTCALL, NULL};

PyObject *
helper_attribute(PyObject *Py_UNUSED(module), PyObject *other)
{
    return access_new(&attribute_definition, other);
}

PyObject *
helper_store_attribute(PyObject *Py_UNUSED(module), PyObject *other)
{
    return access_new(&store_definition, other);
}

PyObject *
helper_truth(PyObject *Py_UNUSED(module), PyObject *other)
{
    return access_new(&truth_definition, other);
}
