/* collections.deque in kernels: items read where control comes to them, and taken or added at either end.
 *
 * Part of table.c. What is read declines as containers.h says. The methods are those of the type's descriptors, which
 * deques_ready() finds; it also compares the struct (3.7 to 3.10) with what a deque says of itself. */
#ifndef PIJIT_DEQUES_H
#define PIJIT_DEQUES_H

#include "runtime/objects/containers.h"

#if PY_VERSION_HEX >= 0x030E0000
#error "the layout of deques: nobody has looked at this version of CPython"
#endif

/* The beginning of CPython's struct, which is in no header. */
typedef struct {
    PyObject_VAR_HEAD
    void *left, *right;
    Py_ssize_t left_index, right_index;
    size_t state;
    Py_ssize_t longest;         /* -1 if there is no limit */
} Deque;

static PyTypeObject *deque_type;  /* owned */
static PyCFunction deque_append, deque_appendleft, deque_pop, deque_popleft;

/* Leaves the item at an index, which may count from the end. */
static int64_t
runtime_deque_item(int64_t frame, int64_t deque, int64_t index, int64_t spec)
{
    PyObject *object = (PyObject *)deque;
    index += index < 0 ? Py_SIZE(object) : 0;
    if (index < 0 || index >= Py_SIZE(object)) {
        return DECLINED;
    }
    PyObject *item = deque_type->tp_as_sequence->sq_item(object, (Py_ssize_t)index);  /* owned: the deque has it too */
    if (item == NULL) {
        return LAUNCHER_ERROR;
    }
    Py_DECREF(item);
    return object_read(frame, item, (int64_t *)spec);
}

/* The frame holds an object that is about to be taken out of a container. What a list holds is only expected. */
static int64_t
runtime_hold(int64_t frame, int64_t object)
{
    PyObject *held = (PyObject *)object;  /* borrowed */
    for (Py_ssize_t i = 0; PyList_CheckExact(held) && i < PyList_GET_SIZE(held); i++) {
        if (!gives_up_quietly(PyList_GET_ITEM(held, i), PyList_GET_SIZE(held))) {
            return DECLINED;
        }
    }
    Py_INCREF((PyObject *)object);
    return owned_push(frame_owned(frame), (PyObject *)object) < 0 ? LAUNCHER_ERROR : 0;
}

/* Takes out the first (0) or last (-1) item, which is there. */
static int64_t
runtime_deque_take(int64_t deque, int64_t index)
{
    PyObject *item = (index == 0 ? deque_popleft : deque_pop)((PyObject *)deque, NULL);  /* owned */
    Py_XDECREF(item);
    return item == NULL ? LAUNCHER_ERROR : 0;
}

/* Whether an item that the deque has, and the caller, may be given up: also a tuple of what dies quietly. */
static int
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

/* The same of an item that nobody has looked at. */
static int64_t
runtime_deque_drop(int64_t deque, int64_t index)
{
    PyObject *object = (PyObject *)deque;
    if (Py_SIZE(object) == 0) {
        return DECLINED;
    }
    /* owned: the deque has it too */
    PyObject *item = deque_type->tp_as_sequence->sq_item(object, index == 0 ? 0 : Py_SIZE(object) - 1);
    if (item == NULL) {
        return LAUNCHER_ERROR;
    }
    int quiet = item_may_go(item);
    Py_DECREF(item);
    return quiet ? runtime_deque_take(deque, index) : DECLINED;
}

/* Adds a value; one with a limit that is full gives up the item at its other end. */
static int64_t
deque_put(PyCFunction put, int64_t deque, Py_ssize_t other, int64_t kind, int64_t address)
{
    Deque *self = (Deque *)deque;
    if (self->longest >= 0 && Py_SIZE(self) >= self->longest) {
        PyObject *old = self->longest == 0 ? NULL  /* owned: the deque has it too */
            : deque_type->tp_as_sequence->sq_item((PyObject *)self, other < 0 ? Py_SIZE(self) - 1 : 0);
        if (old == NULL) {
            PyErr_Clear();
            return DECLINED;
        }
        int quiet = item_may_go(old);
        Py_DECREF(old);
        if (!quiet) {
            return DECLINED;
        }
    }
    PyObject *value = value_box(kind, address);  /* owned */
    PyObject *none = value == NULL ? NULL : put((PyObject *)self, value);  /* owned */
    Py_XDECREF(value);
    Py_XDECREF(none);
    return none == NULL ? LAUNCHER_ERROR : 0;
}

static int64_t
runtime_deque_append(int64_t deque, int64_t kind, int64_t address)
{
    return deque_put(deque_append, deque, 0, kind, address);
}

static int64_t
runtime_deque_appendleft(int64_t deque, int64_t kind, int64_t address)
{
    return deque_put(deque_appendleft, deque, -1, kind, address);
}

/* The C function of a method of the type, NULL with an exception set if it is none with such flags. */
static PyCFunction
deque_method(const char *name, int flags)
{
    PyObject *found = PyDict_GetItemString(deque_type->tp_dict, name);  /* borrowed */
    if (found == NULL || Py_TYPE(found) != &PyMethodDescr_Type
            || ((PyMethodDescrObject *)found)->d_method->ml_flags != flags) {
        PyErr_Format(PyExc_ImportError, "deque.%s is no method of this kind", name);
        return NULL;
    }
    return ((PyMethodDescrObject *)found)->d_method->ml_meth;
}

/* 0, or -1 with an exception set. */
static int
deques_ready(void)
{
    PyObject *module = PyImport_ImportModule("_collections");  /* owned */
    deque_type = module == NULL ? NULL : (PyTypeObject *)PyObject_GetAttrString(module, "deque");
    PyObject *one = deque_type == NULL ? NULL
        : PyObject_CallFunction((PyObject *)deque_type, "(ii)i", 1, 2, 5);  /* owned */
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
        int known = (size_t)deque_type->tp_basicsize >= sizeof(Deque) && Py_SIZE(one) == 2
            && ((Deque *)one)->longest == 5 && deque_type->tp_as_sequence->sq_item != NULL;
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

#endif
