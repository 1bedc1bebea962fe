/* Calls that linked code makes of functions which are compiled on their own, for hook.c alone, on whose state it
 * works.
 *
 * Linked code calls a CallSite right before such a call, with nothing in between. That installs the hook until the
 * thread's next frame starts: if linked code is what calls it, and it is the frame of one of the site's Callees, it
 * goes through the cache and on_miss of that Callee. Any other frame runs as it is, and so does every other call of the
 * function. A call that starts no frame leaves the site waiting; the next frame of any kind or the end of the
 * JitFunction call around it ends that.
 *
 * A Callee whose payload was None many times in a row gains nothing and is left alone from then on. It names its code
 * object by serial and owns nothing that leads there, so it may be a constant of the very code that it calls. */
#ifndef PIJIT_CORE_CALL_SITE_H
#define PIJIT_CORE_CALL_SITE_H

#define IDLE_LIMIT 64

typedef struct {
    PyObject_HEAD
    unsigned long long serial;           /* of the code object */
    PyObject *cache;                     /* owned */
    PyObject *on_miss;                   /* owned */
    PyObject *on_idle;                   /* owned; called without arguments when `idle` reaches the limit */
    int idle;                            /* how often in a row the original ran; from IDLE_LIMIT on it always does */
} Callee;

typedef struct {
    PyObject_HEAD
#if PY_VERSION_HEX >= 0x03080000
    vectorcallfunc vectorcall;
#endif
    PyObject *callees;                   /* owned; a tuple of Callees */
} CallSite;

static PyTypeObject Callee_Type;

static int
callee_is_idle(Callee *callee)
{
    return callee->idle >= IDLE_LIMIT;
}

/* ---- The thread's waiting site ------------------------------------------------------------------------- */

/* Nothing waits for the thread's next frame any more. */
static void
site_forget(void)
{
    if (here.site != NULL) {
        hook_drop();
        Py_CLEAR(here.site);
    }
}

/* Let the thread's next frame pass the hook, for the case that it is one of the site's. */
static void
site_wait(CallSite *site)
{
    PyThreadState *tstate = PyThreadState_Get();
    if (here.disabled > 0 || thread_is_traced(tstate)) {
        return;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(site->callees); i++) {
        if (!callee_is_idle((Callee *)PyTuple_GET_ITEM(site->callees, i))) {
            site_forget();  /* another, whose call started no frame */
            Py_INCREF(site);
            here.site = (PyObject *)site;
            here.caller = tstate->frame;
            hook_acquire();
            return;
        }
    }
}

/* The Callee that a frame which starts was waited for as: owned; NULL: none. Nothing waits any more. */
static Callee *
site_take(PyFrameObject *frame)
{
    Callee *found = NULL;  /* owned, given away */
    if (here.site == NULL) {
        return NULL;
    }
    CodeExtra *extra = frame->f_back == here.caller ? code_extra_get(frame->f_code) : NULL;
    PyObject *callees = ((CallSite *)here.site)->callees;  /* borrowed */
    for (Py_ssize_t i = 0; extra != NULL && found == NULL && i < PyTuple_GET_SIZE(callees); i++) {
        Callee *callee = (Callee *)PyTuple_GET_ITEM(callees, i);  /* borrowed */
        if (callee->serial == extra->serial && !callee_is_idle(callee)) {
            Py_INCREF(callee);
            found = callee;
        }
    }
    site_forget();
    return found;
}

/* ---- Types --------------------------------------------------------------------------------------------- */

static PyObject *
callee_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"code", "cache", "on_miss", "on_idle", NULL};
    PyObject *code, *cache, *on_miss, *on_idle;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOO:Callee", keywords, &PyCode_Type, &code, &cache, &on_miss,
                                     &on_idle) || !mark_is_valid(cache, on_miss)) {
        return NULL;
    }
    CodeExtra *extra = code_extra_ensure((PyCodeObject *)code);  /* the code object's */
    Callee *self = extra == NULL ? NULL : (Callee *)type->tp_alloc(type, 0);  /* owned, given away */
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

static PyTypeObject Callee_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.Callee",
    .tp_basicsize = sizeof(Callee),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Callee(code, cache, on_miss, on_idle)\n--\n\n"
              "A function that linked code calls and that is compiled on its own.",
    .tp_new = callee_new,
    .tp_dealloc = (destructor)callee_dealloc,
    .tp_getset = callee_getset,
};

#if PY_VERSION_HEX >= 0x03080000
/* A vectorcall costs no level of recursion, which the call that follows would be short of. */
static PyObject *
site_vectorcall(PyObject *self, PyObject *const *Py_UNUSED(args), size_t Py_UNUSED(nargsf), PyObject *Py_UNUSED(names))
{
    site_wait((CallSite *)self);
    Py_RETURN_NONE;
}

static PyObject *
site_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    Py_INCREF(self);
    return self;
}
#else
static PyObject *
site_launch(PyObject *self, PyObject *Py_UNUSED(args))
{
    site_wait((CallSite *)self);
    Py_RETURN_NONE;
}

static PyMethodDef site_method = {"wait", site_launch, METH_NOARGS, NULL};

static PyObject *
site_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    return PyCFunction_New(&site_method, self);
}
#endif

static PyObject *
site_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *keywords[] = {"callees", NULL};
    PyObject *callees;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!:CallSite", keywords, &PyTuple_Type, &callees)) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(callees); i++) {
        PyObject *callee = PyTuple_GET_ITEM(callees, i);  /* borrowed */
        if (Py_TYPE(callee) != &Callee_Type) {
            return PyErr_Format(PyExc_TypeError, "callees must be Callees, not %.200s", Py_TYPE(callee)->tp_name);
        }
    }
    CallSite *self = (CallSite *)type->tp_alloc(type, 0);  /* owned, given away */
    if (self != NULL) {
        slot_set(&self->callees, callees);
#if PY_VERSION_HEX >= 0x03080000
        self->vectorcall = site_vectorcall;
#endif
    }
    return (PyObject *)self;
}

static void
site_dealloc(CallSite *self)
{
    Py_XDECREF(self->callees);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyGetSetDef site_getset[] = {
    {"callable", site_get_callable, NULL, "What linked code calls, without arguments, before the call.", NULL},
    {NULL},
};

static PyTypeObject CallSite_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.CallSite",
    .tp_basicsize = sizeof(CallSite),
    .tp_doc = "CallSite(callees)\n--\n\nA place in linked code where one of some Callees may be called.",
#if PY_VERSION_HEX >= 0x03080000
    .tp_flags = Py_TPFLAGS_DEFAULT | _Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(CallSite, vectorcall),
    .tp_call = PyVectorcall_Call,
#else
    .tp_flags = Py_TPFLAGS_DEFAULT,
#endif
    .tp_new = site_new,
    .tp_dealloc = (destructor)site_dealloc,
    .tp_getset = site_getset,
};

#endif
