/* Entrance: the payload of an entry cache for linked code, on all versions. */
#include "capsule_inl.h"
#include "function/entrance.h"
#include "function/marks/marks_inl.h"
#include <structmember.h>

const LaunchAPI *launch_api;

static int
is_off(void)
{
    return thread_is_off();
}

int
launch_ready(void)
{
    if (launch_api == NULL
        && (launch_api = capsule_import_api(LAUNCH_MODULE, LAUNCH_API_CAPSULE, LAUNCH_API_VERSION)) != NULL) {
        launch_connect(launch_api);
        launch_api->set_off(is_off);
    }
    return launch_api != NULL ? 0 : -1;
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
