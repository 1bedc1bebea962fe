/* Suspended generators, built in the middle of their run, in CPython 3.7 to 3.10. */
#include "launcher/marshal/generators.h"
#include <frameobject.h>
#include <opcode.h>

/* Items of a plan: the offset of the last instruction, the slots, and three integers for each block: the instruction
 * that sets it up, the offset of its handler, and its level. */
#define PLAN_LAST 0
#define PLAN_SLOTS 1
#define PLAN_BLOCKS 2

/* The unit in which frames count the offsets of handlers. */
#if PY_VERSION_HEX >= 0x030A0000
#define BLOCK_UNIT ((int)sizeof(_Py_CODEUNIT))
#else
#define BLOCK_UNIT 1
#endif

static Py_ssize_t
plan_number(PyObject *numbers, Py_ssize_t index)
{
    return PyLong_AsSsize_t(PyTuple_GET_ITEM(numbers, index));
}

/* Whether a frame of `function` has room for the plan's slots and for `count` values. */
static int
generator_fits(PyObject *function, PyObject *plan, Py_ssize_t count)
{
    if (Py_TYPE(function) != &PyFunction_Type) {
        return 0;
    }
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(function);
    PyObject *closure = PyFunction_GET_CLOSURE(function), *slots = PyTuple_GET_ITEM(plan, PLAN_SLOTS); /* borrowed */
    Py_ssize_t stack = count - PyTuple_GET_SIZE(slots);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        if (plan_number(slots, i) < 0 || plan_number(slots, i) >= code->co_nlocals) {
            return 0;
        }
    }
    return (code->co_flags & CO_GENERATOR) && PyTuple_GET_SIZE(code->co_cellvars) == 0 && stack >= 0
           && stack < code->co_stacksize && plan_number(plan, PLAN_LAST) < PyBytes_GET_SIZE(code->co_code)
           && (closure == NULL ? 0 : PyTuple_GET_SIZE(closure)) == PyTuple_GET_SIZE(code->co_freevars);
}

/* Suspend the frame after the instruction at offset `last`, with `count` items on the operand stack. */
static void
generator_stop(PyFrameObject *frame, Py_ssize_t last, PyObject *const *stack, Py_ssize_t count, PyObject *blocks)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(stack[i]);
        frame->f_valuestack[i] = stack[i];
    }
#if PY_VERSION_HEX >= 0x030A0000
    frame->f_stackdepth = (int)count;
    frame->f_lasti = (int)(last / (Py_ssize_t)sizeof(_Py_CODEUNIT));
    frame->f_state = FRAME_SUSPENDED;
#else
    frame->f_stacktop = frame->f_valuestack + count;
    frame->f_lasti = (int)last;
#endif
    for (Py_ssize_t i = 0; i + 2 < PyTuple_GET_SIZE(blocks); i += 3) {
        PyFrame_BlockSetup(frame, (int)plan_number(blocks, i), (int)plan_number(blocks, i + 1) / BLOCK_UNIT,
                           (int)plan_number(blocks, i + 2));
    }
}

PyObject *
generator_make(PyObject *plan, PyObject *values)
{
    PyFunctionObject *function = (PyFunctionObject *)PyTuple_GET_ITEM(values, 0); /* borrowed */
    PyObject *slots = PyTuple_GET_ITEM(plan, PLAN_SLOTS);                         /* borrowed */
    Py_ssize_t count = PyTuple_GET_SIZE(values) - 1, nslots = PyTuple_GET_SIZE(slots);
    if (!generator_fits((PyObject *)function, plan, count)) {
        PyErr_SetString(PyExc_SystemError, "a generator's function is not the one that it was compiled for");
        return NULL;
    }
    PyCodeObject *code = (PyCodeObject *)function->func_code; /* borrowed */
    /* owned, then the generator's */
    PyFrameObject *frame = PyFrame_New(PyThreadState_Get(), code, function->func_globals, NULL);
    if (frame == NULL) {
        return NULL;
    }
    Py_CLEAR(frame->f_back);
    for (Py_ssize_t i = 0; i < nslots; i++) {
        PyObject *value = PyTuple_GET_ITEM(values, i + 1);
        Py_INCREF(value);
        Py_XSETREF(frame->f_localsplus[plan_number(slots, i)], value);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_freevars); i++) {
        PyObject *cell = PyTuple_GET_ITEM(function->func_closure, i);
        Py_INCREF(cell);
        frame->f_localsplus[code->co_nlocals + i] = cell;
    }
    Py_ssize_t last = plan_number(plan, PLAN_LAST);
    if (last >= 0) {
        generator_stop(frame, last, &PyTuple_GET_ITEM(values, nslots + 1), count - nslots,
                       PyTuple_GET_ITEM(plan, PLAN_BLOCKS));
    }
    return PyGen_NewWithQualName(frame, function->func_name, function->func_qualname);
}
