/* The module pijit.core._hook from CPython 3.11 on.
 *
 * core/_hook.pyi has signatures and meanings. */
#include "module_inl.h"
#include "cpython/function_hooks/function_hooks.h"
#include "function/callees.h"
#include "function/dispatch.h"
#include "function/marks/code_marks_module.h"
#include "function/marks/marks_inl.h"
#include "hidden/call_site.h"
#include "hidden/continuation.h"
#include "hidden/osr.h"
#include "hidden/run_records.h"

static PyObject *
hook_stats(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    return Py_BuildValue("{s:n,s:n,s:n}", "shadow_frames", marks.shadow_frames, "hits", marks.hits, "misses", marks.misses);
}

static PyMethodDef module_methods[] = {
    {"stats", hook_stats, METH_NOARGS, "stats()\n--\n\nCounts since the start: hidden functions run, cache hits and misses."},
    {"arrive", hook_arrive, METH_NOARGS,
     "arrive()\n--\n\nThe tuple of values with which the linked code that runs begins; for that code, once."},
    {"bind", site_bind, METH_O,
     "bind(pair)\n--\n\nThe callable that LOAD_ATTR has pushed as a method and its owner, or beside an empty slot."},
    {"osr_check", hook_osr_check, METH_O,
     "osr_check(ask)\n--\n\nWhat linked code calls at a loop header, to go on in newer code if there is any."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.core._hook",
    .m_doc = "JitFunction, and the hidden functions that run linked code.",
    .m_size = -1,
    .m_methods = module_methods,
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
    if (PyType_Ready(&Move_Type) < 0 || PyType_Ready(&OsrCheck_Type) < 0 || site_names() < 0) {
        return NULL;
    }
    PyObject *module = marks_module(&module_definition, module_types); /* owned, given away */
    if (module != NULL && function_hooks_add(module) < 0) {
        Py_CLEAR(module);
    }
    return module;
}
