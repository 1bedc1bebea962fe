#include "tape/memory.h"
#include "tape/run.h"
#include <structmember.h>

/* The base of an array that is itself an array, borrowed; NULL: none, or an exception is set. */
static PyArrayObject *
base_of(PyArrayObject *x)
{
    PyObject *base = PyArray_BASE(x); /* borrowed */
    if (base == NULL || PyArray_Check(base)) {
        return (PyArrayObject *)base;
    }
    PyObject *inner = PyObject_GetAttrString(base, "base"); /* owned; of the holder that as_strided makes */
    if (inner == NULL) {
        if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
            PyErr_Clear();
        }
        return NULL;
    }
    int is_array = PyArray_Check(inner);
    Py_DECREF(inner); /* `base` has it */
    return is_array ? (PyArrayObject *)inner : NULL;
}

PyArrayObject *
owner_of(PyArrayObject *x)
{
    PyArrayObject *base;
    while (PyArray_BASE(x) != NULL && (base = base_of(x)) != NULL) {
        x = base;
    }
    return PyErr_Occurred() ? NULL : x;
}

/* The first byte of an array, and the one after its last. */
static void
array_bounds(PyArrayObject *x, char **low, char **high)
{
    *low = *high = PyArray_BYTES(x);
    for (int i = 0; i < PyArray_NDIM(x); i++) {
        npy_intp n = PyArray_DIM(x, i), stride = PyArray_STRIDE(x, i);
        if (n == 0) {
            *low = *high = PyArray_BYTES(x);
            return;
        }
        *(stride < 0 ? low : high) += (n - 1) * stride;
    }
    *high += PyArray_ITEMSIZE(x);
}

int
overlaps_itself(PyArrayObject *x)
{
    if (PyArray_IS_C_CONTIGUOUS(x)) {
        return 0;
    }
    npy_intp reach = PyArray_ITEMSIZE(x), done = 0;
    /* Axes in the order of their strides; the last one taken is `done`. */
    for (int taken = 0; taken < PyArray_NDIM(x);) {
        npy_intp next = NPY_MAX_INTP;
        for (int i = 0; i < PyArray_NDIM(x); i++) {
            npy_intp stride = Py_ABS(PyArray_STRIDE(x, i));
            if (PyArray_DIM(x, i) > 1 && (taken == 0 || stride > done) && stride < next) {
                next = stride;
            }
        }
        if (next == NPY_MAX_INTP) {
            break;
        }
        int alike = 0;
        for (int i = 0; i < PyArray_NDIM(x); i++) {
            if (PyArray_DIM(x, i) > 1 && Py_ABS(PyArray_STRIDE(x, i)) == next) {
                if (next < reach || alike) {
                    return 1;
                }
                reach += next * (PyArray_DIM(x, i) - 1);
                alike = 1;
            }
        }
        done = next;
        taken++;
    }
    return 0;
}

/* ---- Views ------------------------------------------------------------------------------------------------ */

/* NEW reference to the part of a block of bytes that stands for an array of this memory. */
static PyObject *
block_view(const Memory *self, PyArrayObject *block, PyArrayObject *x)
{
    PyArray_Descr *descr = PyArray_DESCR(x); /* the reference that is made here is stolen */
    Py_INCREF(descr);
    if (PyArray_SIZE(x) == 0) {
        return PyArray_Zeros(PyArray_NDIM(x), PyArray_DIMS(x), descr, 0);
    }
    PyObject *view = PyArray_NewFromDescr(&PyArray_Type, descr, PyArray_NDIM(x), PyArray_DIMS(x), PyArray_STRIDES(x),
                                          PyArray_BYTES(block) + (PyArray_BYTES(x) - self->low), NPY_ARRAY_WRITEABLE,
                                          NULL); /* owned, given away */
    if (view != NULL) {
        Py_INCREF(block);
        if (PyArray_SetBaseObject((PyArrayObject *)view, (PyObject *)block) < 0) {
            Py_CLEAR(view);
        }
    }
    return view;
}

/* NEW reference to a block of zeros as large as the memory. */
static PyArrayObject *
block_new(const Memory *self)
{
    npy_intp size = self->size;
    return (PyArrayObject *)PyArray_ZEROS(1, &size, NPY_UINT8, 0);
}

int
memory_shadow_make(Memory *self)
{
    if (self->shadow == NULL) {
        self->shadow = block_new(self);
    }
    return self->shadow != NULL ? 0 : -1;
}

PyObject *
memory_shadow(Memory *self, PyArrayObject *x)
{
    return memory_shadow_make(self) < 0 ? NULL : block_view(self, self->shadow, x);
}

/* Copy the memory for stores that are undone: 0, or -1 with an exception set. */
static int
earlier_make(Memory *self, PyObject *run)
{
    self->earlier = block_new(self);
    if (self->earlier == NULL) {
        return -1;
    }
    PyObject *view = block_view(self, self->earlier, self->owner); /* owned */
    int done = view == NULL ? -1 : run_assign(run, (PyArrayObject *)view, Py_Ellipsis, (PyObject *)self->owner);
    Py_XDECREF(view);
    if (done < 0) {
        Py_CLEAR(self->earlier);
    }
    return done;
}

PyObject *
memory_earlier(Memory *self, PyObject *run, PyArrayObject *x)
{
    if (self->earlier == NULL && earlier_make(self, run) < 0) {
        return NULL;
    }
    return block_view(self, self->earlier, x);
}

PyObject *
memory_value(const Memory *self, PyArrayObject *x)
{
    if (self->earlier != NULL) {
        return block_view(self, self->earlier, x);
    }
    Py_INCREF(x);
    return (PyObject *)x;
}

void
memory_forget(Memory *self)
{
    Py_CLEAR(self->shadow);
    Py_CLEAR(self->earlier);
}

/* ---- The type --------------------------------------------------------------------------------------------- */

Memory *
memory_new(PyArrayObject *owner)
{
    Memory *self = PyObject_New(Memory, &Memory_Type); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    char *high;
    Py_INCREF(owner);
    self->owner = owner;
    self->shared = NULL;
    self->shadow = self->earlier = NULL;
    self->active = 0;
    array_bounds(owner, &self->low, &high);
    self->size = high - self->low;
    return self;
}

static void
memory_dealloc(Memory *self)
{
    Py_DECREF(self->owner);
    Py_XDECREF(self->shared);
    Py_XDECREF(self->shadow);
    Py_XDECREF(self->earlier);
    PyObject_Del(self);
}

/* Whether an argument is an array; an exception is set if not. */
static int
is_array(PyObject *x)
{
    if (PyArray_Check(x)) {
        return 1;
    }
    PyErr_Format(PyExc_TypeError, "an array is expected, not %.200s", Py_TYPE(x)->tp_name);
    return 0;
}

static PyObject *
method_shadow(Memory *self, PyObject *x)
{
    return is_array(x) ? memory_shadow(self, (PyArrayObject *)x) : NULL;
}

static PyObject *
method_value(Memory *self, PyObject *x)
{
    return is_array(x) ? memory_value(self, (PyArrayObject *)x) : NULL;
}

static PyObject *
method_earlier(Memory *self, PyObject *args)
{
    PyObject *run, *x; /* borrowed */
    if (!PyArg_ParseTuple(args, "OO!:earlier", &run, &PyArray_Type, &x)) {
        return NULL;
    }
    return memory_earlier(self, run, (PyArrayObject *)x);
}

static PyObject *
method_bytes(Memory *self, PyObject *Py_UNUSED(args))
{
    if (memory_shadow_make(self) < 0) {
        return NULL;
    }
    Py_INCREF(self->shadow);
    return (PyObject *)self->shadow;
}

static PyObject *
bounds_get(Memory *self, void *Py_UNUSED(closure))
{
    return Py_BuildValue("(nn)", (Py_ssize_t)self->low, (Py_ssize_t)self->low + self->size);
}

static PyMemberDef memory_members[] = {
    {"owner", T_OBJECT_EX, offsetof(Memory, owner), READONLY, "The array that owns the memory."},
    {"active", T_BOOL, offsetof(Memory, active), 0, "Whether the contents depend on an active argument."},
    {"shared", T_OBJECT, offsetof(Memory, shared), 0, "How an argument shares this memory, or None."},
    {NULL},
};

static PyGetSetDef memory_getset[] = {
    {"bounds", (getter)bounds_get, NULL, "First address, and the address after the last byte.", NULL},
    {NULL},
};

static PyMethodDef memory_methods[] = {
    {"shadow", (PyCFunction)method_shadow, METH_O, NULL},
    {"value", (PyCFunction)method_value, METH_O, NULL},
    {"earlier", (PyCFunction)method_earlier, METH_VARARGS, NULL},
    {"shadow_bytes", (PyCFunction)method_bytes, METH_NOARGS, NULL},
    {NULL},
};

PyTypeObject Memory_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._tape.Memory",
    .tp_basicsize = sizeof(Memory),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a tape knows about the owner of memory.",
    .tp_dealloc = (destructor)memory_dealloc,
    .tp_members = memory_members,
    .tp_getset = memory_getset,
    .tp_methods = memory_methods,
};
