/* The module pijit.core._hook up to CPython 3.10.
 *
 * core/_hook.pyi has signatures and meanings. */
#include "module_inl.h"
#include "function/callees.h"
#include "function/dispatch.h"
#include "function/marks/code_marks_module.h"
#include "function/marks/marks_inl.h"
#include "hook/call_site.h"
#include "hook/continuation.h"
#include "hook/install.h"
#include "hook/osr.h"

static PyObject *
hook_hold(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    hook.holds++;
    hook_acquire();
    Py_RETURN_NONE;
}

static PyObject *
hook_release(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    if (hook.holds == 0) {
        PyErr_SetString(PyExc_RuntimeError, "release() without a hold()");
        return NULL;
    }
    hook.holds--;
    hook_drop();
    Py_RETURN_NONE;
}

static PyObject *
hook_installed(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    return PyBool_FromLong(evaluator_get() == evaluator_hook());
}

static PyObject *
hook_stats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    return Py_BuildValue("{s:n,s:n,s:n,s:n}", "frames", hook.frames, "shadow_frames", marks.shadow_frames, "hits", marks.hits,
                         "misses", marks.misses);
}

static PyObject *
hook_set_code_filter(PyObject *Py_UNUSED(module), PyObject *callable)
{
    int had_filter = hook.filter != NULL;
    if (callable_set(&hook.filter, callable) < 0) {
        return NULL;
    }
    hook.filter_serial++;
    if (hook.filter != NULL && !had_filter) {
        hook_acquire();
    }
    else if (hook.filter == NULL && had_filter) {
        hook_drop();
    }
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"hold", hook_hold, METH_NOARGS, "hold()\n--\n\nKeep the hook installed and take every marked frame; nests."},
    {"release", hook_release, METH_NOARGS, "release()\n--\n\nUndo one hold()."},
    {"installed", hook_installed, METH_NOARGS, "installed()\n--\n\nWhether the hook is the current evaluator."},
    {"stats", hook_stats, METH_NOARGS,
     "stats()\n--\n\nCounts since the start: frames seen, shadow frames run, cache hits and misses."},
    {"set_code_filter", hook_set_code_filter, METH_O,
     "set_code_filter(callable)\n--\n\nRun every code object as callable(code) says; None: as it is."},
    {"osr_check", hook_osr_check, METH_VARARGS,
     "osr_check(ask, slot)\n--\n\nWhat linked code calls at a loop header, to go on in newer code if there is any."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT, .m_name = "pijit.core._hook", .m_doc = "The frame hook and JitFunction.",
    .m_size = -1,          .m_methods = module_methods,
};

static const ModuleType module_types[] = {
    {"Callee", &Callee_Type},
    {"CallSite", &CallSite_Type},
    {"Continuation", &Continuation_Type},
    {NULL},
};

MODULE_INIT
PyInit__hook(void)
{
    if (PyType_Ready(&Move_Type) < 0 || PyType_Ready(&OsrCheck_Type) < 0) {
        return NULL;
    }
    hook.previous = evaluator_default();
    return marks_module(&module_definition, module_types);
}
