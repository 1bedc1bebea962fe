/* Call sites: calls from linked code to functions that are compiled on their own (callees.h).
 *
 * Linked code calls a CallSite directly before such a call. The site installs the hook until the thread's next frame
 * starts. If linked code calls that frame and it belongs to one of the site's Callees, it goes through the cache and
 * on_miss of that Callee. Any other frame runs unchanged, and so does every other call of the function. A call that
 * starts no frame leaves the site waiting. The wait ends with the next frame of any kind, or with the JitFunction
 * call around it. */
#include "hook/call_site.h"
#include "cpython/vectorcall/vectorcall_slot_inl.h"
#include "function/callees.h"
#include "function/callees_inl.h"
#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_extra_inl.h"
#include "function/marks/marks_inl.h"
#include "hook/install.h"
#include <stddef.h>

/* ---- The thread's waiting site ------------------------------------------------------------------------- */

void
site_forget(void)
{
    if (hook.needs > 0 && here.site != NULL) {
        hook_drop();
        Py_CLEAR(here.site);
    }
}

/* Install the hook for the thread's next frame, which may be one of the site's. */
static void
site_wait(PyObject *self)
{
    CallSite *site = (CallSite *)self;
    PyThreadState *tstate = PyThreadState_Get();
    if (thread_is_off() || thread_is_traced(tstate)) {
        return;
    }
    if (site->find != NULL && ++site->in_vain > IDLE_LIMIT) {
        Py_CLEAR(site->find);
    }
    if (site_is_live(site)) {
        site_forget(); /* the call of another site has started no frame */
        Py_INCREF(site);
        here.site = self;
        here.caller = tstate->frame;
        hook_acquire();
    }
}

Callee *
site_take(PyFrameObject *frame)
{
    CallSite *site = (CallSite *)here.site; /* owned */
    if (site == NULL) {
        return NULL;
    }
    here.site = NULL;
    hook_drop();
    int is_known;
    CodeExtra *extra = frame->f_back == here.caller ? code_extra_get(frame->f_code) : NULL;
    Callee *found = site_know(site, extra, &is_known); /* owned, given away */
    if (frame->f_back == here.caller) {
        site->in_vain = 0;
        if (!is_known && site_may_ask(site)) {
            found = site_ask(site, frame->f_code, frame->f_globals);
        }
    }
    Py_DECREF(site);
    return found;
}

/* ---- Types --------------------------------------------------------------------------------------------- */

VECTORCALL_WITHOUT_ARGUMENTS(site_vectorcall, site_wait)

static PyObject *
site_launch(PyObject *self, PyObject *Py_UNUSED(args))
{
    site_wait(self);
    Py_RETURN_NONE;
}

static PyMethodDef site_method = {"wait", site_launch, METH_NOARGS, NULL};

static PyObject *
site_get_callable(PyObject *self, void *Py_UNUSED(closure))
{
    return vectorcall_callable(self, &site_method);
}

static PyGetSetDef site_getset[] = {
    {"open", (getter)site_get_open, NULL, "Whether functions that the site has not met are asked about.", NULL},
    {"callable", site_get_callable, NULL, "What linked code calls, without arguments, before the call.", NULL},
    {NULL},
};

PyTypeObject CallSite_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "pijit.core._hook.CallSite",
    VECTORCALL_LAYOUT(CallSite),
    .tp_doc = "CallSite(callees, find=None)\n--\n\n"
              "A place in linked code where one of some Callees, or one that find(code, globals) answers, may be called.",
    .tp_flags = Py_TPFLAGS_DEFAULT | VECTORCALL_FLAG,
    .tp_call = VECTORCALL_CALL,
    .tp_new = site_new,
    .tp_dealloc = (destructor)site_dealloc,
    .tp_getset = site_getset,
};
