/* Search and sort of lists and tuples in kernels.
 *
 * Only items whose comparison runs no user code are compared. A function bails out, without an effect, when it meets
 * another item. */
#include "runtime/objects/search_sort.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/stores.h"

ItemKind
item_kind(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type) {
        return PYTHON_NUMBER;
    }
    if (type == &PyUnicode_Type) {
        return TEXT;
    }
    if (PyArray_IsScalar(object, Number) && !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) {
        return NUMPY_NUMBER;
    }
    return object == Py_None ? NOTHING : OTHER_ITEM;
}

/* Whether an item equals a value: 0 or 1, or -1 if only bytecode may compare them. */
static int
items_equal(PyObject *item, PyObject *value)
{
    if (item == value) {
        return 1;
    }
    if (Py_TYPE(item) == &PyFloat_Type && Py_TYPE(value) == &PyFloat_Type) {
        return PyFloat_AS_DOUBLE(item) == PyFloat_AS_DOUBLE(value);
    }
    ItemKind one = item_kind(item), other = item_kind(value);
    if (one == OTHER_ITEM || other == OTHER_ITEM) {
        return -1;
    }
    int numbers = (one >= PYTHON_NUMBER) + (other >= PYTHON_NUMBER);
    if (numbers != 2 && (numbers == 1 || one != other)) {
        return one == NUMPY_NUMBER || other == NUMPY_NUMBER ? -1 : 0;
    }
    int equal = PyObject_RichCompareBool(item, value, Py_EQ);
    if (equal < 0) {
        PyErr_Clear();
    }
    return equal;
}

/* Stores in the first word of `out` the first index of a value in a list or tuple, or -1. If `all`, stores the number
 * of its occurrences. */
static int64_t
items_search(int64_t owner, int64_t kind, int64_t address, int64_t *out, int all)
{
    PyObject *sequence = (PyObject *)owner;
    PyObject *value = value_box(kind, address); /* owned */
    int64_t status = value == NULL ? LAUNCHER_ERROR : 0, count = 0, found = -1;
    for (Py_ssize_t i = 0; status == 0 && i < Py_SIZE(sequence) && (all || found < 0); i++) {
        int equal = items_equal(PySequence_Fast_GET_ITEM(sequence, i), value);
        status = equal < 0 ? BAILED_OUT : 0;
        if (equal > 0) {
            found = i;
            count++;
        }
    }
    out[0] = all ? count : found;
    Py_XDECREF(value);
    return status;
}

int64_t
runtime_find_item(int64_t owner, int64_t kind, int64_t address, int64_t out)
{
    return items_search(owner, kind, address, (int64_t *)out, 0);
}

int64_t
runtime_count_items(int64_t owner, int64_t kind, int64_t address, int64_t out)
{
    return items_search(owner, kind, address, (int64_t *)out, 1);
}

/* list.sort(reverse=backwards), for numbers of one class or for strings. */
int64_t
runtime_sort(int64_t owner, int64_t backwards)
{
    PyObject *list = (PyObject *)owner;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++) {
        PyObject *item = PyList_GET_ITEM(list, i); /* borrowed */
        if (item_kind(item) < TEXT || Py_TYPE(item) != Py_TYPE(PyList_GET_ITEM(list, 0))) {
            return BAILED_OUT;
        }
    }
    /* Equal items keep their order in both directions. */
    if ((backwards && PyList_Reverse(list) < 0) || PyList_Sort(list) < 0 || (backwards && PyList_Reverse(list) < 0)) {
        return LAUNCHER_ERROR;
    }
    return 0;
}
