/* Checks of plans for suspended generators, which output codes contain. generators_*.h defines their meaning. */
#include "launcher/generator_plans.h"
#include "launcher/abi.h"
#include <Python.h>

/* Whether an object is a tuple of ints. */
static int
integers_check(PyObject *numbers)
{
    if (!PyTuple_CheckExact(numbers)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(numbers); i++) {
        if (!PyLong_CheckExact(PyTuple_GET_ITEM(numbers, i))) {
            return 0;
        }
    }
    return 1;
}

#if PY_VERSION_HEX < 0x030B0000

int
plan_check(PyObject *plan)
{
    return PyTuple_CheckExact(plan) && PyTuple_GET_SIZE(plan) == 3 && PyLong_CheckExact(PyTuple_GET_ITEM(plan, 0))
           && integers_check(PyTuple_GET_ITEM(plan, 1)) && integers_check(PyTuple_GET_ITEM(plan, 2));
}

#else

/* Whether an object is (code of a generator function, tuple of ints, bool). */
int
plan_check(PyObject *plan)
{
    return PyTuple_CheckExact(plan) && PyTuple_GET_SIZE(plan) == 3 && PyCode_Check(PyTuple_GET_ITEM(plan, 0))
           && (((PyCodeObject *)PyTuple_GET_ITEM(plan, 0))->co_flags & CO_GENERATOR)
           && integers_check(PyTuple_GET_ITEM(plan, 1)) && PyBool_Check(PyTuple_GET_ITEM(plan, 2));
}

#endif
