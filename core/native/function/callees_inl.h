/* Callees: functions that linked code calls and that are compiled on their own; inlined functions. */
#ifndef PIJIT_FUNCTION_CALLEES_INL_H
#define PIJIT_FUNCTION_CALLEES_INL_H

#include "function/callees.h"
#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/marks_inl.h"

/* Whether a call through the site may run linked code. */
static inline int
site_is_live(CallSite *site)
{
    int live = site->find != NULL;
    for (Py_ssize_t i = 0; !live && i < PyTuple_GET_SIZE(site->callees); i++) {
        live = !callee_is_idle((Callee *)PyTuple_GET_ITEM(site->callees, i));
    }
    return live;
}

/* The Callee of a function that the site knows, found by its code's extra: owned; NULL: none, or an idle one. */
static inline Callee *
site_know(CallSite *site, const CodeExtra *extra, int *is_known)
{
    *is_known = 0;
    for (Py_ssize_t i = 0; extra != NULL && i < PyTuple_GET_SIZE(site->callees); i++) {
        Callee *callee = (Callee *)PyTuple_GET_ITEM(site->callees, i); /* borrowed */
        if (callee->serial != extra->serial) {
            continue;
        }
        *is_known = 1;
        if (callee_is_idle(callee)) {
            return NULL;
        }
        Py_INCREF(callee);
        return callee;
    }
    return NULL;
}

/* Whether `find` may be called: like on_miss, it is not called close to the recursion limit. */
static inline int
site_may_ask(CallSite *site)
{
    return site->find != NULL && !thread_is_off() && thread_has_room(PyThreadState_Get());
}

#endif
