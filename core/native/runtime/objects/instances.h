/* Construction of instances of plain classes, for exits and for kernels. */
#ifndef PIJIT_RUNTIME_OBJECTS_INSTANCES_H
#define PIJIT_RUNTIME_OBJECTS_INSTANCES_H

#include "launcher/abi.h"

/* Sets the attributes `names` of the object `made` to `values`, in this order, as object.__setattr__ does. If `made` is
 * NULL, it makes a new instance of a class whose __new__ is that of object. For a subclass of tuple, it makes an
 * instance with `values` as items. Returns a new reference, or NULL with an exception set. */
PyObject *instance_make(PyObject *made, PyObject *type, PyObject *names, PyObject **values);

#endif
