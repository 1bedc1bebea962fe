/* heapq in kernels: heaps in lists, by the algorithms of CPython's _heapq.
 *
 * The algorithms are the same so that the items are in the same order. An operation first finds which
 * items to compare, without moving any. It bails out if a comparison may run user code, warn or raise. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/deques.h"
#include "runtime/objects/search_sort.h"
#include "runtime/objects/stores.h"
#include <numpy/arrayscalars.h>

typedef enum { RELATION_UNKNOWN = -1, RELATION_EQUAL, RELATION_LESS, RELATION_OTHER } Relation;

#define EXACT_INTEGERS 9007199254740992 /* 2**53: doubles represent all smaller integers */

/* Converts a number that a double represents exactly. Returns 0 for other objects. A NaN of NumPy is one of these,
 * because comparing it warns. */
static int
heap_number(PyObject *object, double *number)
{
    if (PyFloat_CheckExact(object) || Py_TYPE(object) == &PyDoubleArrType_Type) {
        *number = ((PyFloatObject *)object)->ob_fval;
        return PyFloat_CheckExact(object) || *number == *number;
    }
    long long integer = EXACT_INTEGERS;
    int overflow = 0;
    if (PyLong_CheckExact(object) || PyBool_Check(object)) {
        integer = PyLong_AsLongLongAndOverflow(object, &overflow);
    }
    else if (Py_TYPE(object) == &PyLongArrType_Type) {
        integer = ((PyLongScalarObject *)object)->obval;
    }
    *number = (double)integer;
    return overflow == 0 && integer < EXACT_INTEGERS && integer > -EXACT_INTEGERS;
}

static Relation
heap_relation(PyObject *one, PyObject *other)
{
    double first, second;
    if (heap_number(one, &first) && heap_number(other, &second)) {
        return first < second ? RELATION_LESS : first == second ? RELATION_EQUAL : RELATION_OTHER;
    }
    if (PyTuple_CheckExact(one) && PyTuple_CheckExact(other)) {
        Py_ssize_t shorter = Py_MIN(PyTuple_GET_SIZE(one), PyTuple_GET_SIZE(other));
        for (Py_ssize_t i = 0; i < shorter; i++) {
            PyObject *left = PyTuple_GET_ITEM(one, i), *right = PyTuple_GET_ITEM(other, i); /* borrowed */
            Relation relation = left == right ? RELATION_EQUAL : heap_relation(left, right);
            if (relation != RELATION_EQUAL) {
                return relation;
            }
        }
        Py_ssize_t more = PyTuple_GET_SIZE(one) - PyTuple_GET_SIZE(other);
        return more < 0 ? RELATION_LESS : more == 0 ? RELATION_EQUAL : RELATION_OTHER;
    }
    ItemKind kind = item_kind(one);
    if (kind != item_kind(other) || (kind != TEXT && kind != PYTHON_NUMBER)) {
        return RELATION_UNKNOWN;
    }
    int less = PyObject_RichCompareBool(one, other, Py_LT), equal = less ? 0 : PyObject_RichCompareBool(one, other, Py_EQ);
    if (less < 0 || equal < 0) {
        PyErr_Clear();
        return RELATION_UNKNOWN;
    }
    return less ? RELATION_LESS : equal ? RELATION_EQUAL : RELATION_OTHER;
}

/* heapq.heappush */
int64_t
runtime_heap_push(int64_t owner, int64_t kind, int64_t address)
{
    PyObject *list = (PyObject *)owner, *value = value_box(kind, address); /* value: owned */
    Py_ssize_t slot = PyList_GET_SIZE(list), last = slot;
    Relation relation = value == NULL ? RELATION_UNKNOWN : RELATION_LESS;
    while (relation == RELATION_LESS && slot > 0) {
        Py_ssize_t parent = (slot - 1) / 2;
        relation = heap_relation(value, PyList_GET_ITEM(list, parent));
        slot = relation == RELATION_LESS ? parent : slot;
    }
    int64_t status = value == NULL ? LAUNCHER_ERROR : relation == RELATION_UNKNOWN ? BAILED_OUT : 0;
    if (status == 0 && PyList_Append(list, value) < 0) {
        status = LAUNCHER_ERROR;
    }
    if (status == 0) {
        PyObject **items = ((PyListObject *)list)->ob_item;
        for (Py_ssize_t at = last; at > slot; at = (at - 1) / 2) {
            items[at] = items[(at - 1) / 2];
        }
        items[slot] = value; /* owned by the list since PyList_Append */
    }
    Py_XDECREF(value);
    return status;
}

/* The path of smaller children from the top of a heap of `size` items downward. Returns its length, or 0 if a
 * comparison is undecidable here. */
static int
heap_path(PyObject **items, Py_ssize_t size, Py_ssize_t *path)
{
    int count = 1;
    for (Py_ssize_t slot = path[0] = 0; slot < size / 2; path[count++] = slot) {
        Py_ssize_t left = 2 * slot + 1;
        slot = left;
        if (left + 1 < size) {
            Relation relation = heap_relation(items[left], items[left + 1]);
            if (relation == RELATION_UNKNOWN) {
                return 0;
            }
            slot += relation != RELATION_LESS;
        }
    }
    return count;
}

/* heapq.heappop without its result. */
int64_t
runtime_heap_drop(int64_t owner)
{
    PyObject *list = (PyObject *)owner;
    PyObject **items = ((PyListObject *)list)->ob_item;
    Py_ssize_t size = PyList_GET_SIZE(list) - 1, path[8 * sizeof(Py_ssize_t)];
    if (size < 0) {
        return BAILED_OUT;
    }
    PyObject *top = items[0], *last = items[size]; /* owned: the list's references, moved within it */
    int count = size > 0 ? heap_path(items, size, path) : 1, end = count - 1;
    Relation relation = count > 0 ? RELATION_LESS : RELATION_UNKNOWN;
    while (relation == RELATION_LESS && end > 0) {
        relation = heap_relation(last, items[path[end]]);
        end -= relation == RELATION_LESS;
    }
    if (relation == RELATION_UNKNOWN) {
        return BAILED_OUT;
    }
    Py_INCREF(top); /* item_may_go expects two references: the list's and ours */
    int quiet = item_may_go(top);
    Py_DECREF(top);
    if (!quiet) {
        return BAILED_OUT;
    }
    for (int k = 0; k < end; k++) {
        items[path[k]] = items[path[k + 1]];
    }
    items[size > 0 ? path[end] : 0] = last;
    items[size] = top;
    return PyList_SetSlice(list, size, size + 1, NULL) < 0 ? LAUNCHER_ERROR : 0;
}
