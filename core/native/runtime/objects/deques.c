/* collections.deque in kernels: reads of items; removal and insertion at both ends.
 *
 * Reads bail out as containers.h describes. deques_ready() finds the methods in the type's
 * descriptors. It also compares the struct's layout (3.7 to 3.10) with the properties of a sample deque. */
#include "runtime/objects/deques.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/containers.h"
#include "runtime/objects/stores.h"
#include "runtime/objects/stores_inl.h"
#include "runtime/runtime_inl.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the layout of deques: nobody has looked at this version of CPython"
#endif

/* The first fields of CPython's struct, which no header declares. */
typedef struct {
    PyObject_VAR_HEAD
    void *left, *right;
    Py_ssize_t left_index, right_index;
    size_t state;
    Py_ssize_t longest; /* -1 without a limit */
} Deque;

static PyTypeObject *deque_type; /* owned */

static PyCFunction deque_append, deque_appendleft, deque_pop, deque_popleft;

/* Reads the item at an index. A negative index counts from the end. */
int64_t
runtime_deque_item(int64_t frame, int64_t deque, int64_t index, int64_t spec)
{
    PyObject *object = (PyObject *)deque;
    index += index < 0 ? Py_SIZE(object) : 0;
    if (index < 0 || index >= Py_SIZE(object)) {
        return BAILED_OUT;
    }
    PyObject *item = deque_type->tp_as_sequence->sq_item(object, (Py_ssize_t)index); /* owned; the deque has one */
    if (item == NULL) {
        return LAUNCHER_ERROR;
    }
    Py_DECREF(item);
    return object_read(frame, item, (int64_t *)spec);
}

/* Makes the frame hold an object that is about to be removed from a container. The types of a list's items are only
 * expected, so their ends are checked here. */
int64_t
runtime_hold(int64_t frame, int64_t object)
{
    PyObject *held = (PyObject *)object; /* borrowed */
    for (Py_ssize_t i = 0; PyList_CheckExact(held) && i < PyList_GET_SIZE(held); i++) {
        if (!gives_up_quietly(PyList_GET_ITEM(held, i), PyList_GET_SIZE(held))) {
            return BAILED_OUT;
        }
    }
    Py_INCREF((PyObject *)object);
    return owned_push(frame_owned(frame), (PyObject *)object) < 0 ? LAUNCHER_ERROR : 0;
}

/* Removes the first (0) or last (-1) item, which must exist. */
int64_t
runtime_deque_take(int64_t deque, int64_t index)
{
    PyObject *item = (index == 0 ? deque_popleft : deque_pop)((PyObject *)deque, NULL); /* owned */
    Py_XDECREF(item);
    return item == NULL ? LAUNCHER_ERROR : 0;
}

int
item_may_go(PyObject *item)
{
    if (!PyTuple_CheckExact(item) || Py_REFCNT(item) > 2) {
        return gives_up_quietly(item, 2);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(item); i++) {
        if (!gives_up_quietly(PyTuple_GET_ITEM(item, i), PyTuple_GET_SIZE(item))) {
            return 0;
        }
    }
    return 1;
}

/* Removes the first or last item, which the kernel has not read. So it checks here that the item may be dropped. */
int64_t
runtime_deque_drop(int64_t deque, int64_t index)
{
    PyObject *object = (PyObject *)deque;
    if (Py_SIZE(object) == 0) {
        return BAILED_OUT;
    }
    /* owned; the deque holds a reference, too */
    PyObject *item = deque_type->tp_as_sequence->sq_item(object, index == 0 ? 0 : Py_SIZE(object) - 1);
    if (item == NULL) {
        return LAUNCHER_ERROR;
    }
    int quiet = item_may_go(item);
    Py_DECREF(item);
    return quiet ? runtime_deque_take(deque, index) : BAILED_OUT;
}

/* Adds a value. A full deque with a limit drops the item at its other end. */
static int64_t
deque_put(PyCFunction put, int64_t deque, Py_ssize_t other, int64_t kind, int64_t address)
{
    Deque *self = (Deque *)deque;
    if (self->longest >= 0 && Py_SIZE(self) >= self->longest) {
        PyObject *old = self->longest == 0
                            ? NULL /* owned; the deque holds one, too */
                            : deque_type->tp_as_sequence->sq_item((PyObject *)self, other < 0 ? Py_SIZE(self) - 1 : 0);
        if (old == NULL) {
            PyErr_Clear();
            return BAILED_OUT;
        }
        int quiet = item_may_go(old);
        Py_DECREF(old);
        if (!quiet) {
            return BAILED_OUT;
        }
    }
    PyObject *value = value_box(kind, address);                           /* owned */
    PyObject *none = value == NULL ? NULL : put((PyObject *)self, value); /* owned */
    Py_XDECREF(value);
    Py_XDECREF(none);
    return none == NULL ? LAUNCHER_ERROR : 0;
}

int64_t
runtime_deque_append(int64_t deque, int64_t kind, int64_t address)
{
    return deque_put(deque_append, deque, 0, kind, address);
}

int64_t
runtime_deque_appendleft(int64_t deque, int64_t kind, int64_t address)
{
    return deque_put(deque_appendleft, deque, -1, kind, address);
}

/* The C function of a method of the type. Returns NULL with an exception set if there is no such method with these
 * flags. */
static PyCFunction
deque_method(const char *name, int flags)
{
    PyObject *found = PyDict_GetItemString(deque_type->tp_dict, name); /* borrowed */
    if (found == NULL || Py_TYPE(found) != &PyMethodDescr_Type
        || ((PyMethodDescrObject *)found)->d_method->ml_flags != flags) {
        PyErr_Format(PyExc_ImportError, "deque.%s is no method of this kind", name);
        return NULL;
    }
    return ((PyMethodDescrObject *)found)->d_method->ml_meth;
}

int
deques_ready(void)
{
    PyObject *module = PyImport_ImportModule("_collections"); /* owned */
    deque_type = module == NULL ? NULL : (PyTypeObject *)PyObject_GetAttrString(module, "deque");
    PyObject *one = deque_type == NULL ? NULL : PyObject_CallFunction((PyObject *)deque_type, "(ii)i", 1, 2, 5); /* owned */
    int status = -1;
    Py_XDECREF(module);
    if (one == NULL) {
        return -1;
    }
    deque_append = deque_method("append", METH_O);
    deque_appendleft = deque_append == NULL ? NULL : deque_method("appendleft", METH_O);
    deque_pop = deque_appendleft == NULL ? NULL : deque_method("pop", METH_NOARGS);
    deque_popleft = deque_pop == NULL ? NULL : deque_method("popleft", METH_NOARGS);
    if (deque_popleft != NULL) {
        int known = (size_t)deque_type->tp_basicsize >= sizeof(Deque) && Py_SIZE(one) == 2 && ((Deque *)one)->longest == 5
                    && deque_type->tp_as_sequence->sq_item != NULL;
        if (known) {
            status = 0;
        }
        else {
            PyErr_SetString(PyExc_ImportError, "the deques of this interpreter have an unknown layout");
        }
    }
    Py_DECREF(one);
    return status;
}
