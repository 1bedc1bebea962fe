/* Entrance: the payload of an entry cache for linked code, on all versions. */
#ifndef PIJIT_FUNCTION_ENTRANCE_INL_H
#define PIJIT_FUNCTION_ENTRANCE_INL_H

#include "capsule_inl.h"
#include "function/dispatch.h"
#include "launcher/launch_api.h"
#include <structmember.h>

#if PY_VERSION_HEX >= 0x030b0000
#include "hidden/entry_paths_inl.h"
#else
#include "hook/exit_landings_inl.h"
#endif

typedef struct {
    PyObject_HEAD
    PyObject *code;         /* owned: the linked code */
    PyObject *launcher;     /* owned: the launcher that runs first, before any frame; NULL: begin in a frame */
    PyCodeObject *fits;     /* the code object that the linked code was found to fit; only its identity is used */
    EntryPaths entry_paths; /* entry into the linked code for this CPython family */
} Entrance;

const LaunchAPI *launch_api;

int
launch_ready(void)
{
    if (launch_api == NULL
        && (launch_api = capsule_import_api(LAUNCH_MODULE, LAUNCH_API_CAPSULE, LAUNCH_API_VERSION)) != NULL) {
        launch_connect(launch_api);
    }
    return launch_api != NULL ? 0 : -1;
}

/* Whether a call runs the code object that the entry was made for. */
static inline int
entrance_fits(Entrance *self, const BoundCall *call)
{
    if (self->fits != call->code && marks_fit(call->code, (PyCodeObject *)self->code)) {
        self->fits = call->code;
    }
    return self->fits == call->code;
}

PyObject *
payload_code(PyObject *payload)
{
    return Py_TYPE(payload) == &Entrance_Type ? ((Entrance *)payload)->code : payload;
}

static PyObject *
entrance_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"code", "launcher", "landings", NULL};
    PyObject *code, *launcher, *landings; /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OO!:Entrance", names, &PyCode_Type, &code, &launcher, &PyTuple_Type,
                                     &landings)) {
        return NULL;
    }
    if (launch_ready() < 0) {
        return NULL;
    }
    if (launcher != Py_None && !launch_api->is_launcher(launcher)) {
        return PyErr_Format(PyExc_TypeError, "launcher must be a Launcher or None, not %.200s", Py_TYPE(launcher)->tp_name);
    }
    Entrance *self = (Entrance *)type->tp_alloc(type, 0); /* owned, given away */
    if (self == NULL) {
        return NULL;
    }
    Py_INCREF(code);
    self->code = code;
    if (launcher != Py_None) {
        Py_INCREF(launcher);
        self->launcher = launcher;
    }
    if (entry_paths_read(&self->entry_paths, landings, (PyCodeObject *)code) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
entrance_traverse(Entrance *self, visitproc visit, void *arg)
{
    Py_VISIT(self->code);
    Py_VISIT(self->launcher);
    return 0;
}

static void
entrance_dealloc(Entrance *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->code);
    Py_XDECREF(self->launcher);
    entry_paths_free(&self->entry_paths);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyMemberDef entrance_members[] = {
    {"code", T_OBJECT, offsetof(Entrance, code), READONLY, "The linked code."},
    {"launcher", T_OBJECT, offsetof(Entrance, launcher), READONLY, "The launcher that is called before any frame."},
    {NULL},
};

/* Like a tuple it has all its references from construction on, so it needs no tp_clear. */
PyTypeObject Entrance_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.Entrance",
    .tp_doc = "Entrance(code, launcher, landings)\n--\n\n"
              "What an entry cache holds for linked code: how calls get into it.",
    .tp_basicsize = sizeof(Entrance),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = entrance_new,
    .tp_dealloc = (destructor)entrance_dealloc,
    .tp_traverse = (traverseproc)entrance_traverse,
    .tp_members = entrance_members,
};

#endif
