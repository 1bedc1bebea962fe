/* Callees: functions that linked code calls and that are compiled on their own for such calls, on all versions.
 *
 * hook/call_site.h and hidden/call_site.h implement a CallSite there.
 *
 * A site has Callees. An open site serves a call whose function capture does not know, and also has `find`. It asks
 * `find` about each function that the site has not met, at most OPEN_LIMIT times. It closes after more than IDLE_LIMIT
 * calls in a row that run no Python function.
 *
 * A Callee whose payload was None IDLE_LIMIT times in a row gains nothing; from then on its calls run the original.
 * It names its code object by serial and has no reference to it. So it may be a constant of the code that it calls. */
#include "function/callees.h"
#include "function/callees_inl.h"
#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_marks.h"
#include "function/marks/code_marks_inl.h"
#include "function/marks/marks_inl.h"

#define OPEN_LIMIT 4 /* the number of functions that an open site asks about */

int
callee_is_idle(Callee *callee)
{
    return callee->idle >= IDLE_LIMIT;
}

Callee *
site_ask(CallSite *site, PyCodeObject *code, PyObject *globals)
{
    PyObject *find = site->find; /* owned */
    Py_INCREF(find);
    pause_begin();
    PyObject *answer = PyObject_CallFunctionObjArgs(find, (PyObject *)code, globals, NULL); /* owned */
    pause_end();
    Py_DECREF(find);
    if (++site->asked >= OPEN_LIMIT) {
        Py_CLEAR(site->find);
    }
    Py_ssize_t size = PyTuple_GET_SIZE(site->callees);
    PyObject *callees = NULL; /* owned, given away */
    if (answer != NULL && Py_TYPE(answer) == &Callee_Type && (callees = PyTuple_New(size + 1)) != NULL) {
        for (Py_ssize_t i = 0; i <= size; i++) {
            PyObject *callee = i < size ? PyTuple_GET_ITEM(site->callees, i) : answer; /* borrowed */
            Py_INCREF(callee);
            PyTuple_SET_ITEM(callees, i, callee);
        }
        Py_SETREF(site->callees, callees);
        return (Callee *)answer;
    }
    if (PyErr_Occurred()) {
        error_report(code);
    }
    Py_XDECREF(answer);
    return NULL;
}

/* ---- Types --------------------------------------------------------------------------------------------- */

static PyObject *
callee_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"code", "cache", "on_miss", "on_idle", NULL};
    PyObject *code, *cache, *on_miss, *on_idle; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOO:Callee", keywords, &PyCode_Type, &code, &cache, &on_miss, &on_idle)
        || !mark_is_valid(cache, on_miss)) {
        return NULL;
    }
    CodeExtra *extra = code_extra_ensure((PyCodeObject *)code);              /* the code object's */
    Callee *self = extra == NULL ? NULL : (Callee *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        self->serial = extra->serial;
        slot_set(&self->cache, cache == Py_None ? NULL : cache);
        slot_set(&self->on_miss, on_miss);
        slot_set(&self->on_idle, on_idle);
    }
    return (PyObject *)self;
}

static void
callee_dealloc(Callee *self)
{
    Py_XDECREF(self->cache);
    Py_XDECREF(self->on_miss);
    Py_XDECREF(self->on_idle);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
callee_get_idle(Callee *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(callee_is_idle(self));
}

static PyGetSetDef callee_getset[] = {
    {"idle", (getter)callee_get_idle, NULL, "Whether calls run the original because that is all they ever did.", NULL},
    {NULL},
};

PyTypeObject Callee_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Callee",
    .tp_basicsize = sizeof(Callee),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Callee(code, cache, on_miss, on_idle)\n--\n\n"
              "A function that linked code calls and that is compiled on its own.",
    .tp_new = callee_new,
    .tp_dealloc = (destructor)callee_dealloc,
    .tp_getset = callee_getset,
};

PyObject *
site_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"callees", "find", NULL};
    PyObject *callees, *find = Py_None; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:CallSite", keywords, &PyTuple_Type, &callees, &find)) {
        return NULL;
    }
    if (find != Py_None && !PyCallable_Check(find)) {
        return PyErr_Format(PyExc_TypeError, "find must be callable or None, not %.200s", Py_TYPE(find)->tp_name);
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(callees); i++) {
        PyObject *callee = PyTuple_GET_ITEM(callees, i); /* borrowed */
        if (Py_TYPE(callee) != &Callee_Type) {
            return PyErr_Format(PyExc_TypeError, "callees must be Callees, not %.200s", Py_TYPE(callee)->tp_name);
        }
    }
    CallSite *self = (CallSite *)type->tp_alloc(type, 0); /* owned, given away */
    if (self != NULL) {
        slot_set(&self->callees, callees);
        slot_set(&self->find, find == Py_None ? NULL : find);
        VECTORCALL_SET(self, site_vectorcall);
    }
    return (PyObject *)self;
}

void
site_dealloc(CallSite *self)
{
    Py_XDECREF(self->callees);
    Py_XDECREF(self->find);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

PyObject *
site_get_open(CallSite *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->find != NULL);
}
