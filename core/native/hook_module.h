/* The module pijit.core._hook: what Python sees of the hook. Included at the end of hook.c, on whose state it
 * works.
 *
 * Signatures and meanings are in core/_hook.pyi. */
#ifndef PIJIT_CORE_HOOK_MODULE_H
#define PIJIT_CORE_HOOK_MODULE_H

static PyObject *
unbound_repr(PyObject *Py_UNUSED(self))
{
    return PyUnicode_FromString("UNBOUND");
}

static PyTypeObject Unbound_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.Unbound",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The type of UNBOUND, which stands for a local, cell or free variable without a value.",
    .tp_repr = unbound_repr,
};

static PyObject *
code_mark(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyCodeObject *code;            /* borrowed */
    PyObject *cache, *on_miss;     /* borrowed */
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
    if (here.disabled == 0) {
        PyErr_SetString(PyExc_RuntimeError, "enable() without a disable() on this thread");
        return NULL;
    }
    pause_end();
    Py_RETURN_NONE;
}

static PyObject *
hook_set_plain(PyObject *Py_UNUSED(module), PyObject *on)
{
    int plain = PyObject_IsTrue(on);
    if (plain < 0) {
        return NULL;
    }
    PyObject *previous = PyBool_FromLong(hook.plain);  /* owned, given away */
    hook.plain = plain;
    return previous;
}

static PyMethodDef disabled_methods[] = {
    {"__enter__", thread_disable, METH_NOARGS, NULL},
    {"__exit__", thread_enable, METH_VARARGS, NULL},
    {NULL},
};

static PyTypeObject Disabled_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.disabled",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "disabled()\n--\n\nContext manager: disable() on entry, enable() on exit, on the same thread.",
    .tp_methods = disabled_methods,
    .tp_new = PyType_GenericNew,
};

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
    return Py_BuildValue("{s:n,s:n,s:n,s:n}", "frames", hook.frames, "shadow_frames", hook.shadow_frames,
                         "hits", hook.hits, "misses", hook.misses);
}

/* Make `*slot` own a callable, or NULL for None. Returns -1 with an exception set for anything else. */
static int
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

static PyObject *
hook_set_error_handler(PyObject *Py_UNUSED(module), PyObject *callable)
{
    if (callable_set(&hook.error_handler, callable) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyMethodDef module_methods[] = {
    {"mark", code_mark, METH_VARARGS,
     "mark(code, cache, on_miss)\n--\n\nSend the frames of a code object through a cache and on_miss."},
    {"unmark", code_unmark, METH_O, "unmark(code)\n--\n\nUndo mark."},
    {"marked", code_marked, METH_O, "marked(code)\n--\n\nWhether a code object is marked."},
    {"disable", thread_disable, METH_NOARGS,
     "disable()\n--\n\nRun everything on this thread as it is; nests."},
    {"enable", thread_enable, METH_NOARGS, "enable()\n--\n\nUndo one disable() of this thread."},
    {"set_plain", hook_set_plain, METH_O,
     "set_plain(on)\n--\n\nRun everything on all threads as it is, or no longer; returns the previous setting."},
    {"hold", hook_hold, METH_NOARGS,
     "hold()\n--\n\nKeep the hook installed and take every marked frame; nests."},
    {"release", hook_release, METH_NOARGS, "release()\n--\n\nUndo one hold()."},
    {"installed", hook_installed, METH_NOARGS,
     "installed()\n--\n\nWhether the hook is the current evaluator."},
    {"stats", hook_stats, METH_NOARGS,
     "stats()\n--\n\nCounts since the start: frames seen, shadow frames run, cache hits and misses."},
    {"set_code_filter", hook_set_code_filter, METH_O,
     "set_code_filter(callable)\n--\n\nRun every code object as callable(code) says; None: as it is."},
    {"set_error_handler", hook_set_error_handler, METH_O,
     "set_error_handler(callable)\n--\n\nGive pijit's own faults to callable(code, exception)."},
    {"mover", hook_mover, METH_VARARGS,
     "mover(ask, slot)\n--\n\nWhat linked code calls at a loop header, to go on in newer code if there is any."},
    {"set_rebuild", function_set_rebuild, METH_O,
     "set_rebuild(callable)\n--\n\nUnpickle a JitFunction without a global name by callable(py_func)."},
    {NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "pijit.core._hook",
    .m_doc = "The frame hook and JitFunction.",
    .m_size = -1,
    .m_methods = module_methods,
};

/* Add an object to the module, which takes a new reference of its own. */
static int
module_add(PyObject *module, const char *name, PyObject *object)
{
    Py_INCREF(object);
    if (PyModule_AddObject(module, name, object) < 0) {
        Py_DECREF(object);
        return -1;
    }
    return 0;
}

MODULE_INIT
PyInit__hook(void)
{
    if (PyType_Ready(&Unbound_Type) < 0 || PyType_Ready(&Disabled_Type) < 0 || PyType_Ready(&Move_Type) < 0
        || PyType_Ready(&Mover_Type) < 0 || PyType_Ready(&Callee_Type) < 0 || PyType_Ready(&CallSite_Type) < 0
        || PyType_Ready(&Rest_Type) < 0 || PyType_Ready(&Trial_Type) < 0 || function_type_ready() < 0
        || entrance_type_ready() < 0) {
        return NULL;
    }
    hook.previous = evaluator_default();
    hook.extra_index = _PyEval_RequestCodeExtraIndex(code_extra_free);
    if (hook.extra_index < 0) {
        PyErr_SetString(PyExc_ImportError, "this interpreter has no code-extra slot left for pijit");
        return NULL;
    }
    PyObject *module = PyModule_Create(&module_definition);  /* owned, given away */
    if (module == NULL) {
        return NULL;
    }
    if (module_add(module, "UNBOUND", &unbound) < 0
        || module_add(module, "disabled", (PyObject *)&Disabled_Type) < 0
        || module_add(module, "Callee", (PyObject *)&Callee_Type) < 0
        || module_add(module, "CallSite", (PyObject *)&CallSite_Type) < 0
        || module_add(module, "Rest", (PyObject *)&Rest_Type) < 0
        || module_add(module, "Entrance", (PyObject *)&Entrance_Type) < 0
        || module_add(module, "Trial", (PyObject *)&Trial_Type) < 0
        || module_add(module, "JitFunction", (PyObject *)&JitFunction_Type) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}

#endif
