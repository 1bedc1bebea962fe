/* Reading of landings: resume points after the exits of a kernel. */
#include "hook/exit_landings.h"

/* Read a landing in a code object, given as None or (last, slots, stack): 1, 0 for none, -1 with an exception set. */
static int
landing_read(PyObject *given, PyCodeObject *code, Landing *landing)
{
    PyObject *slots; /* borrowed */
    if (given == Py_None) {
        return 0;
    }
    if (!PyTuple_Check(given)) {
        PyErr_Format(PyExc_TypeError, "a landing is None or a tuple, not %.200s", Py_TYPE(given)->tp_name);
        return -1;
    }
    if (!PyArg_ParseTuple(given, "nO!n", &landing->last, &PyTuple_Type, &slots, &landing->stack)) {
        return -1;
    }
    landing->nslots = PyTuple_GET_SIZE(slots);
    int fits = landing->last >= 0 && landing->last % (Py_ssize_t)sizeof(_Py_CODEUNIT) == 0
               && landing->last + (Py_ssize_t)sizeof(_Py_CODEUNIT) < PyBytes_GET_SIZE(code->co_code) && landing->stack >= 0
               && landing->stack <= code->co_stacksize;
    if (landing->nslots + landing->stack > MOST_LEFT) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < landing->nslots; i++) {
        landing->slots[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(slots, i));
        fits = fits && landing->slots[i] >= -1 && landing->slots[i] < code->co_nlocals;
    }
    if (!fits && !PyErr_Occurred()) {
        PyErr_Format(PyExc_ValueError, "%U has no place like %R", code->co_name, given);
    }
    return PyErr_Occurred() ? -1 : 1;
}

int
entry_paths_read(EntryPaths *paths, PyObject *given, PyCodeObject *code)
{
    paths->nexits = PyTuple_GET_SIZE(given);
    paths->landings = PyMem_New(Landing, paths->nexits);
    paths->lands = PyMem_New(char, paths->nexits);
    if (paths->landings == NULL || paths->lands == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < paths->nexits; i++) {
        int found = landing_read(PyTuple_GET_ITEM(given, i), code, &paths->landings[i]);
        if (found < 0) {
            return -1;
        }
        paths->lands[i] = (char)(found ? 1 + paths->landings[i].nslots + paths->landings[i].stack : 0);
    }
    return 0;
}

/* Launchers need no function here: frames tell for which run an answer is. */
void
launch_connect(const LaunchAPI *Py_UNUSED(api))
{
}

void
entry_paths_free(EntryPaths *paths)
{
    Py_XDECREF(paths->pooled);
    PyMem_Free(paths->landings);
    PyMem_Free(paths->lands);
}
