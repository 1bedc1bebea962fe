/* Calls that linked code makes of functions which are compiled on their own, for hook.c alone, on whose state it
 * works.
 *
 * Linked code calls a CallSite right before such a call, with nothing in between. That installs the hook until the
 * thread's next frame starts: if linked code is what calls it, and it is the frame of one of the site's Callees, it
 * goes through the cache and on_miss of that Callee. Any other frame runs as it is, and so does every other call of the
 * function. A call that starts no frame leaves the site waiting; the next frame of any kind or the end of the
 * JitFunction call around it ends that.
 *
 * An open site has `find` as well, for a call whose function capture does not know: it is asked about each function
 * that the site has not met, a few times. A site that only ever calls what starts no frame closes.
 *
 * A Callee whose payload was None many times in a row gains nothing and is left alone from then on. It names its code
 * object by serial and owns nothing that leads there, so it may be a constant of the very code that it calls. */
#ifndef PIJIT_CORE_CALL_SITE_H
#define PIJIT_CORE_CALL_SITE_H

#define IDLE_LIMIT 64
#define OPEN_LIMIT 4      /* how many functions an open site asks about */

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
    PyObject *find;                      /* owned; find(code, globals) answers a Callee or None; NULL: not open */
    int asked;                           /* how often `find` was */
    int in_vain;                         /* how often in a row no frame of the caller's came */
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
    if (hook.needs > 0 && here.site != NULL) {
        hook_drop();
        Py_CLEAR(here.site);
    }
}

/* Whether waiting may be of use. */
static int
site_is_live(CallSite *site)
{
    int live = site->find != NULL;
    for (Py_ssize_t i = 0; !live && i < PyTuple_GET_SIZE(site->callees); i++) {
        live = !callee_is_idle((Callee *)PyTuple_GET_ITEM(site->callees, i));
    }
    return live;
}

/* Let the thread's next frame pass the hook, for the case that it is one of the site's. */
static void
site_wait(CallSite *site)
{
    PyThreadState *tstate = PyThreadState_Get();
    if (thread_is_off() || thread_is_traced(tstate)) {
        return;
    }
    if (site->find != NULL && ++site->in_vain > IDLE_LIMIT) {
        Py_CLEAR(site->find);
    }
    if (site_is_live(site)) {
        site_forget();  /* another, whose call started no frame */
        Py_INCREF(site);
        here.site = (PyObject *)site;
        here.caller = tstate->frame;
        hook_acquire();
    }
}

/* Close to the recursion limit `find` is not asked, just as on_miss. */
static int
site_may_ask(CallSite *site)
{
    return site->find != NULL && !thread_is_off()
        && PyThreadState_Get()->recursion_depth < Py_GetRecursionLimit() - CAPTURE_DEPTH;
}

/* Have `find` look at the function of a frame: the Callee that the site knows from now on, owned; NULL: none. */
static Callee *
site_ask(CallSite *site, PyFrameObject *frame)
{
    PyObject *find = site->find;  /* owned */
    Py_INCREF(find);
    pause_begin();
    PyObject *answer = PyObject_CallFunctionObjArgs(find, (PyObject *)frame->f_code, frame->f_globals, NULL);  /* owned */
    pause_end();
    Py_DECREF(find);
    if (++site->asked >= OPEN_LIMIT) {
        Py_CLEAR(site->find);
    }
    Py_ssize_t size = PyTuple_GET_SIZE(site->callees);
    PyObject *callees = NULL;  /* owned, given away */
    if (answer != NULL && Py_TYPE(answer) == &Callee_Type && (callees = PyTuple_New(size + 1)) != NULL) {
        for (Py_ssize_t i = 0; i <= size; i++) {
            PyObject *callee = i < size ? PyTuple_GET_ITEM(site->callees, i) : answer;  /* borrowed */
            Py_INCREF(callee);
            PyTuple_SET_ITEM(callees, i, callee);
        }
        Py_SETREF(site->callees, callees);
        return (Callee *)answer;
    }
    if (PyErr_Occurred()) {
        error_report(frame->f_code);
    }
    Py_XDECREF(answer);
    return NULL;
}

/* The Callee that a frame which starts was waited for as: owned; NULL: none. Nothing waits any more. */
static Callee *
site_take(PyFrameObject *frame)
{
    CallSite *site = (CallSite *)here.site;  /* owned */
    if (site == NULL) {
        return NULL;
    }
    here.site = NULL;
    hook_drop();
    Callee *found = NULL;  /* owned, given away */
    CodeExtra *extra = frame->f_back == here.caller ? code_extra_get(frame->f_code) : NULL;
    int is_known = 0;
    for (Py_ssize_t i = 0; extra != NULL && !is_known && i < PyTuple_GET_SIZE(site->callees); i++) {
        Callee *callee = (Callee *)PyTuple_GET_ITEM(site->callees, i);  /* borrowed */
        is_known = callee->serial == extra->serial;
        if (is_known && !callee_is_idle(callee)) {
            Py_INCREF(callee);
            found = callee;
        }
    }
    if (frame->f_back == here.caller) {
        site->in_vain = 0;
        if (!is_known && site_may_ask(site)) {
            found = site_ask(site, frame);
        }
    }
    Py_DECREF(site);
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
    static char *keywords[] = {"callees", "find", NULL};
    PyObject *callees, *find = Py_None;  /* borrowed */
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!|O:CallSite", keywords, &PyTuple_Type, &callees, &find)) {
        return NULL;
    }
    if (find != Py_None && !PyCallable_Check(find)) {
        return PyErr_Format(PyExc_TypeError, "find must be callable or None, not %.200s", Py_TYPE(find)->tp_name);
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
        slot_set(&self->find, find == Py_None ? NULL : find);
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
    Py_XDECREF(self->find);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyObject *
site_get_open(CallSite *self, void *Py_UNUSED(closure))
{
    return PyBool_FromLong(self->find != NULL);
}

static PyGetSetDef site_getset[] = {
    {"open", (getter)site_get_open, NULL, "Whether functions that the site has not met are asked about.", NULL},
    {"callable", site_get_callable, NULL, "What linked code calls, without arguments, before the call.", NULL},
    {NULL},
};

static PyTypeObject CallSite_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "pijit.core._hook.CallSite",
    .tp_basicsize = sizeof(CallSite),
    .tp_doc = "CallSite(callees, find=None)\n--\n\n"
              "A place in linked code where one of some Callees, or one that find(code, globals) answers, may be called.",
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
