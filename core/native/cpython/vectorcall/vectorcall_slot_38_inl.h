/* Types whose objects have a vectorcall, from CPython 3.8 on; see vectorcall_slot_inl.h. */
#ifndef PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_38_INL_H
#define PIJIT_CPYTHON_VECTORCALL_VECTORCALL_SLOT_38_INL_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>

/* The field of an object, after its head. */
#define VECTORCALL_FIELD vectorcallfunc vectorcall;
#define VECTORCALL_SET(object, function) ((object)->vectorcall = (function))

/* Give an object another vectorcall, unless it has none. */
#define VECTORCALL_REPLACE(object, function) ((object)->vectorcall = (object)->vectorcall != NULL ? (function) : NULL)

/* Parts of a type whose objects have that field. */
#define VECTORCALL_LAYOUT(layout) .tp_basicsize = sizeof(layout), .tp_vectorcall_offset = offsetof(layout, vectorcall)
#define VECTORCALL_FLAG _Py_TPFLAGS_HAVE_VECTORCALL
#define VECTORCALL_CALL PyVectorcall_Call

#define METHOD_DESCRIPTOR_FLAG Py_TPFLAGS_METHOD_DESCRIPTOR

/* Define the vectorcall of objects that linked code calls without arguments: `run` gets the object. A vectorcall costs
 * no level of recursion, so the call that follows has all of them. */
#define VECTORCALL_WITHOUT_ARGUMENTS(name, run) \
    PyObject *name(PyObject *self, PyObject *const *Py_UNUSED(args), size_t Py_UNUSED(nargsf), PyObject *Py_UNUSED(names)) \
    { \
        run(self); \
        Py_RETURN_NONE; \
    }

/* Define the vectorcall of objects that linked code calls with one argument: `run` gets the object and the argument.
 * Other calls raise TypeError with a text. A frame that `run` starts has the depth that a frame of the call would have. */
#define VECTORCALL_WITH_ONE_ARGUMENT(name, run, text) \
    static PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) \
    { \
        if (PyVectorcall_NARGS(nargsf) != 1 || names != NULL) { \
            PyErr_SetString(PyExc_TypeError, text); \
            return NULL; \
        } \
        return run(self, args[0]); \
    }

/* Define the vectorcall of objects that are called with any arguments: `run` gets all that a vectorcall gets. */
#define VECTORCALL_WITH_ARGUMENTS(name, run) \
    PyObject *name(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) \
    { \
        return run(self, args, nargsf, names); \
    }

/* A NEW reference to what linked code calls in place of an object: the object, or up to 3.7 a method of it. */
static inline PyObject *
vectorcall_callable(PyObject *object, PyMethodDef *Py_UNUSED(method))
{
    Py_INCREF(object);
    return object;
}

#endif
