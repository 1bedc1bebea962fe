/* Mirror mode, for tests: the Python twin repeats evaluations of programs. */
#ifndef PIJIT_GUARDS_MIRROR_H
#define PIJIT_GUARDS_MIRROR_H

#include "program.h"

/* Whether evaluations are compared with the Python twin. */
extern int mirror_enabled;

/* Lets the Python twin evaluate the same values. `failed` is the index of the failed guard, -1 for an absent fetch source,
 * or PASSED. Returns whether the program passed, or -1 with AssertionError; then `fetched` is released. */
enum { PASSED = -2 };
int mirror_compare(ProgramObject *self, const Roots *roots, Py_ssize_t failed, PyObject **fetched);

/* set_mirror(enabled) of the module, METH_O, and mirror_disagreements(), METH_NOARGS. */
PyObject *module_set_mirror(PyObject *module, PyObject *flag);
PyObject *module_mirror_disagreements(PyObject *module, PyObject *unused);

#endif
