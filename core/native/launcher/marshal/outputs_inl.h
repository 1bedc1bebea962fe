/* Output codes: the functions that are inlined into the hot path. */
#ifndef PIJIT_LAUNCHER_OUTPUTS_INL_H
#define PIJIT_LAUNCHER_OUTPUTS_INL_H

#include "launcher/marshal/outputs.h"

/* The object in a frame word: a NEW reference, or NULL with an exception set. */
static inline PyObject *
object_build(int64_t word)
{
    PyObject *object = (PyObject *)word; /* borrowed: the frame owns it */
    if (object == NULL) {
        PyErr_SetString(PyExc_SystemError, "a kernel left an object output empty");
        return NULL;
    }
    Py_INCREF(object);
    return object;
}

/* As output_build; the most frequent kind is inlined. */
static inline PyObject *
output_value(const Output *output, ValueSource *source)
{
    if (output->kind == OUT_OBJECT && source->answer == NULL) {
        return object_build(source->frame[output->word]);
    }
    return output_build(output, source);
}

/* Whether linked code can tell a value from a tuple of answer_new. */
static inline int
answers_itself(PyObject *value)
{
#ifdef Py_TPFLAGS_MAPPING
    return !PyType_HasFeature(Py_TYPE(value), Py_TPFLAGS_MAPPING);
#else
    return 0;
#endif
}

#endif
