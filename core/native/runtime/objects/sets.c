/* Effects on sets.
 *
 * Values are numbers, strings or tuples of these, so their comparison runs no user code. */
#include "launcher/abi.h"
#include "lookup/lookup_inl.h"
#include "runtime/entries.h"
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"

/* The effect of a method on a set that has the value (`found`) or lacks it. Returns 0, BAILED_OUT or LAUNCHER_ERROR. */
typedef int64_t (*SetChange)(PyObject *set, PyObject *value, int found);

static int64_t
set_change(int64_t set, int64_t kind, int64_t address, SetChange change)
{
    PyObject *value = value_box(kind, address); /* owned */
    int found = value != NULL ? set_find((PyObject *)set, value) : LOOKUP_ERROR;
    int64_t status = value == NULL ? LAUNCHER_ERROR : found < 0 ? BAILED_OUT : change((PyObject *)set, value, found);
    Py_XDECREF(value);
    return status;
}

static int64_t
value_add(PyObject *set, PyObject *value, int found)
{
    return PySet_Add(set, value) < 0 ? LAUNCHER_ERROR : 0;
}

static int64_t
value_discard(PyObject *set, PyObject *value, int found)
{
    return PySet_Discard(set, value) < 0 ? LAUNCHER_ERROR : 0;
}

static int64_t
value_remove(PyObject *set, PyObject *value, int found)
{
    return found == LOOKUP_FOUND ? value_discard(set, value, found) : BAILED_OUT;
}

int64_t
runtime_set_add(int64_t set, int64_t kind, int64_t address)
{
    return set_change(set, kind, address, value_add);
}

int64_t
runtime_set_discard(int64_t set, int64_t kind, int64_t address)
{
    return set_change(set, kind, address, value_discard);
}

int64_t
runtime_set_remove(int64_t set, int64_t kind, int64_t address)
{
    return set_change(set, kind, address, value_remove);
}

int64_t
runtime_clear_set(int64_t set)
{
    PyObject *value; /* borrowed */
    Py_ssize_t position = 0, size = PySet_GET_SIZE((PyObject *)set);
    while (set_next((PyObject *)set, &position, &value)) {
        if (!gives_up_quietly(value, size)) {
            return BAILED_OUT;
        }
    }
    return PySet_Clear((PyObject *)set) < 0 ? LAUNCHER_ERROR : 0;
}
