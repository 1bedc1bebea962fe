/* Python's interface to code_marks.h, on all versions.
 *
 * core/_hook.pyi has signatures and meanings. */
#include "cpython/vectorcall/vectorcall_inl.h"
#include "function/marks/code_marks_module.h"
#include "function/tiering/call_profile.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "function/gradients/gradient_call.h"
#include "function/gradients/gradient_function.h"
#include "function/gradients/kernel_function.h"
#include "function/gradients/joint_dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/code_marks.h"
#include "function/marks/code_marks_inl.h"
#include "function/marks/marks_inl.h"
#include "module_inl.h"

static PyObject *
unbound_repr(PyObject *Py_UNUSED(self))
{
    return PyUnicode_FromString("UNBOUND");
}

PyTypeObject Unbound_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Unbound",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The type of UNBOUND, which stands for a local, cell or free variable without a value.",
    .tp_repr = unbound_repr,
};

static PyObject *
code_mark(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyCodeObject *code;        /* borrowed */
    PyObject *cache, *on_miss; /* borrowed */
    if (!PyArg_ParseTuple(args, "O!OO:mark", &PyCode_Type, &code, &cache, &on_miss)) {
        return NULL;
    }
    if (!mark_is_valid(cache, on_miss)) {
        return NULL;
    }
    CodeExtra *extra = code_extra_ensure(code);
    if (extra == NULL) {
        return NULL;
    }
    slot_set(&extra->cache, cache == Py_None ? NULL : cache);
    slot_set(&extra->on_miss, on_miss);
    Py_RETURN_NONE;
}

/* The CodeExtra of an argument that must be a code object; NULL without an exception if it has none. */
static CodeExtra *
argument_extra(PyObject *code)
{
    if (!PyCode_Check(code)) {
        PyErr_Format(PyExc_TypeError, "code must be a code object, not %.200s", Py_TYPE(code)->tp_name);
        return NULL;
    }
    return code_extra_get((PyCodeObject *)code);
}

static PyObject *
code_unmark(PyObject *Py_UNUSED(module), PyObject *code)
{
    CodeExtra *extra = argument_extra(code);
    if (extra != NULL) {
        slot_set(&extra->on_miss, NULL);
        slot_set(&extra->cache, NULL);
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *
code_marked(PyObject *Py_UNUSED(module), PyObject *code)
{
    CodeExtra *extra = argument_extra(code);
    return PyErr_Occurred() ? NULL : PyBool_FromLong(extra != NULL && extra->on_miss != NULL);
}

static PyObject *
thread_disable(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    pause_begin();
    Py_RETURN_NONE;
}

static PyObject *
thread_enable(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(args))
{
    if (paused.disabled == 0) {
        PyErr_SetString(PyExc_RuntimeError, "enable() without a disable() on this thread");
        return NULL;
    }
    pause_end();
    Py_RETURN_NONE;
}

static PyObject *
marks_set_plain(PyObject *Py_UNUSED(module), PyObject *on)
{
    int plain = PyObject_IsTrue(on);
    if (plain < 0) {
        return NULL;
    }
    PyObject *previous = PyBool_FromLong(marks.plain); /* owned, given away */
    marks.plain = plain;
    return previous;
}

static PyObject *
marks_set_other_stance(PyObject *Py_UNUSED(module), PyObject *on)
{
    int other = PyObject_IsTrue(on);
    if (other < 0) {
        return NULL;
    }
    marks.other_stance = other;
    Py_RETURN_NONE;
}

static PyMethodDef disabled_methods[] = {
    {"__enter__", thread_disable, METH_NOARGS, NULL},
    {"__exit__", thread_enable, METH_VARARGS, NULL},
    {NULL},
};

static PyTypeObject Disabled_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.disabled",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "disabled()\n--\n\nContext manager: disable() on entry, enable() on exit, on the same thread.",
    .tp_methods = disabled_methods,
    .tp_new = PyType_GenericNew,
};

int
callable_set(PyObject **slot, PyObject *callable)
{
    if (callable != Py_None && !PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "a callable or None is needed, not %.200s", Py_TYPE(callable)->tp_name);
        return -1;
    }
    slot_set(slot, callable == Py_None ? NULL : callable);
    return 0;
}

static PyObject *
marks_set_error_handler(PyObject *Py_UNUSED(module), PyObject *callable)
{
    if (callable_set(&marks.error_handler, callable) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* call(callable, *args, **kwargs): the method in a place of the operand stack where a callable would need a NULL below. */
static PyObject *
marks_call(PyObject *Py_UNUSED(module), PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    if (nargs < 1) {
        PyErr_SetString(PyExc_TypeError, "call: callable is missing");
        return NULL;
    }
    return vector_call(args[0], args + 1, nargs - 1, names);
}

static PyObject *
marks_connect(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    if (launch_ready() < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef marks_methods[] = {
    {"connect", marks_connect, METH_NOARGS,
     "connect()\n--\n\nLet callbacks of pijit.core._launcher ask whether this thread runs everything as it is."},
    {"set_profiling", call_profiling_set, METH_O,
     "set_profiling(on)\n--\n\nCount calls and their time from now on, or no longer."},
    {"call_times", call_times, METH_NOARGS, "call_times()\n--\n\n[(function, calls, ns)] while profiling is on."},
    {"mark", code_mark, METH_VARARGS,
     "mark(code, cache, on_miss)\n--\n\nSend the frames of a code object through a cache and on_miss."},
    {"unmark", code_unmark, METH_O, "unmark(code)\n--\n\nUndo mark."},
    {"marked", code_marked, METH_O, "marked(code)\n--\n\nWhether a code object is marked."},
    {"disable", thread_disable, METH_NOARGS, "disable()\n--\n\nRun everything on this thread as it is; nests."},
    {"enable", thread_enable, METH_NOARGS, "enable()\n--\n\nUndo one disable() of this thread."},
    {"set_plain", marks_set_plain, METH_O,
     "set_plain(on)\n--\n\nRun everything on all threads as it is, or no longer; returns the previous setting."},
    {"set_other_stance", marks_set_other_stance, METH_O,
     "set_other_stance(on)\n--\n\nTell calls in C whether the stance is another one than the default."},
    {"set_recording", gradient_set_recording, METH_O,
     "set_recording(on)\n--\n\nTell calls in C whether a tape records in this thread."},
    {"set_error_handler", marks_set_error_handler, METH_O,
     "set_error_handler(callable)\n--\n\nGive pijit's own faults to callable(code, exception)."},
    {"set_rebuild", function_set_rebuild, METH_O,
     "set_rebuild(callable)\n--\n\nUnpickle a JitFunction without a global name by callable(py_func)."},
    {"call", (PyCFunction)(void (*)(void))marks_call, METH_FASTCALL | METH_KEYWORDS,
     "call(callable, /, *args, **kwargs)\n--\n\nThe result of callable(*args, **kwargs)."},
    {NULL},
};

/* The types of the module on all versions. */
static const ModuleType marks_types[] = {
    {"disabled", &Disabled_Type},
    {"Entrance", &Entrance_Type},
    {"EntryTiming", &EntryTiming_Type},
    {"JitFunction", &JitFunction_Type},
    {"JointDispatch", &JointDispatch_Type},
    {"GradientCall", &GradientCall_Type},
    {"GradientFunction", &GradientFunction_Type},
    {"KernelFunction", &KernelFunction_Type},
    {NULL},
};

/* Add types to the module: 0, or -1 with an exception set. */
static int
module_add_types(PyObject *module, const ModuleType *types)
{
    for (const ModuleType *one = types; one->name != NULL; one++) {
        if (module_add_type(module, one->name, one->type) < 0) {
            return -1;
        }
    }
    return 0;
}

PyObject *
marks_module(struct PyModuleDef *definition, const ModuleType *more)
{
    if (PyType_Ready(&Unbound_Type) < 0 || function_type_ready() < 0) {
        return NULL;
    }
    marks.extra_index = code_extra_request(code_extra_free);
    if (marks.extra_index < 0) {
        PyErr_SetString(PyExc_ImportError, "this interpreter has no code-extra slot left for pijit");
        return NULL;
    }
    PyObject *module = PyModule_Create(definition); /* owned, given away */
    if (module == NULL) {
        return NULL;
    }
    if (PyModule_AddFunctions(module, marks_methods) < 0 || module_add(module, "UNBOUND", unbound) < 0
        || PyModule_AddIntConstant(module, "MOST_INPUTS", MOST_INPUTS) < 0 || module_add_types(module, marks_types) < 0
        || module_add_types(module, more) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
