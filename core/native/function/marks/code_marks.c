/* Marks of code objects, on all versions: the cache and on_miss of a code object, and whether a thread uses them.
 *
 * For hook.c and run.c only. Only the main interpreter is supported: the code-extra index belongs to it.
 *
 * A CodeExtra owns its cache and on_miss, and the garbage collector does not see code objects. So neither may keep
 * the marked code alive, or it is never freed. */
#include "function/marks/code_marks.h"
#include "capsule_inl.h"
#include "evaluate.h"
#include "function/dispatch.h"
#include "function/tiering/entry_timing.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_marks_inl.h"
#include "function/marks/code_marks_module.h"
#include "function/marks/marks_inl.h"

Marks marks;

__thread Paused paused;

int
names_start_with(PyObject *names, PyObject *prefix, int exact)
{
    Py_ssize_t count = PyTuple_GET_SIZE(prefix);
    if (PyTuple_GET_SIZE(names) < count || (exact && PyTuple_GET_SIZE(names) != count)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *wanted = PyTuple_GET_ITEM(prefix, i); /* borrowed */
        if (name != wanted && PyUnicode_Compare(name, wanted) != 0) {
            return 0;
        }
    }
    return 1;
}

/* ---- Marks ---------------------------------------------------------------------------------------------- */

int
mark_is_valid(PyObject *cache, PyObject *on_miss)
{
    if (cache != Py_None) {
        if (marks.guards == NULL
            && (marks.guards = capsule_import_api(GUARDS_MODULE, GUARDS_API_CAPSULE, GUARDS_API_VERSION)) == NULL) {
            return 0;
        }
        if (!marks.guards->is_cache(cache)) {
            PyErr_Format(PyExc_TypeError, "cache must be an EntryCache or None, not %.200s", Py_TYPE(cache)->tp_name);
            return 0;
        }
    }
    if (!PyCallable_Check(on_miss)) {
        PyErr_Format(PyExc_TypeError, "on_miss must be callable, not %.200s", Py_TYPE(on_miss)->tp_name);
        return 0;
    }
    return 1;
}

/* ---- Internal errors ----------------------------------------------------------------------------------- */

void
error_report(PyCodeObject *code)
{
    if (marks.error_handler == NULL) {
        PyErr_WriteUnraisable((PyObject *)code);
        return;
    }
    PyObject *type, *value, *traceback; /* owned */
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(value, traceback);
    }
    PyObject *handler = marks.error_handler; /* owned: the handler may replace itself */
    Py_INCREF(handler);
    pause_begin();
    PyObject *result = PyObject_CallFunctionObjArgs(handler, (PyObject *)code, value, NULL); /* owned */
    pause_end();
    if (result == NULL) {
        PyErr_WriteUnraisable(handler);
    }
    Py_XDECREF(result);
    Py_DECREF(handler);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

PyObject *
paused_call(PyObject *callable, PyObject *args, PyObject *code)
{
    pause_begin();
    PyObject *answer = args != NULL ? PyObject_Call(callable, args, NULL) : NULL; /* owned, given away */
    pause_end();
    if (answer == NULL) {
        error_report((PyCodeObject *)code);
    }
    Py_XDECREF(args);
    return answer;
}

void
paused_tell(PyObject *callable, PyObject *args, PyObject *code)
{
    Py_XDECREF(paused_call(callable, args, code));
}

/* ---- Payloads ------------------------------------------------------------------------------------------ */

static struct {
    PyObject_HEAD
} unbound_object = {PyObject_HEAD_INIT(&Unbound_Type)};

PyObject *const unbound = (PyObject *)&unbound_object;

PyObject *
slots_list(PyObject *const *slots, Py_ssize_t count)
{
    PyObject *list = PyList_New(count); /* owned, given away */
    if (list == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *value = slots[i] != NULL ? slots[i] : unbound; /* borrowed */
        Py_INCREF(value);
        PyList_SET_ITEM(list, i, value);
    }
    return list;
}

/* Close to the recursion limit on_miss is not called: there is no room to compile. Also, up to CPython 3.8 a
 * RecursionError that is caught there lets the next one abort the process. The answer Ellipsis says that another
 * thread is capturing. Then the call runs unchanged, and nothing is learnt about the function. */
PyObject *
marks_ask(PyObject *on_miss, PyCodeObject *code, PyObject *const *slots, Py_ssize_t nslots, PyObject *globals,
          PyObject *builtins, Asked *asked)
{
    *asked = ASKED_FOR_NOTHING;
    if (!thread_has_room(PyThreadState_Get())) {
        Py_RETURN_NONE;
    }
    PyObject *list = slots_list(slots, nslots); /* owned */
    if (list == NULL) {
        return NULL;
    }
    pause_begin();
    PyObject *answer = PyObject_CallFunctionObjArgs(on_miss, (PyObject *)code, list, globals, builtins, NULL); /* owned */
    pause_end();
    Py_DECREF(list);
    /* Compiling has exceeded the recursion limit, but the function itself may not. */
    if (answer == NULL && PyErr_ExceptionMatches(PyExc_RecursionError)) {
        PyErr_Clear();
        answer = Py_None;
        Py_INCREF(answer);
    }
    else if (answer == Py_Ellipsis) {
        *asked = ASKED_WELL;
        Py_DECREF(answer);
        Py_RETURN_NONE;
    }
    else if (answer != Py_None) {
        *asked = ASKED_WELL;
    }
    return answer;
}

/* Whether a payload may run in place of a code object. A refusal is reported once, until another pair is compared. */
int
marks_fit(PyCodeObject *code, PyCodeObject *payload)
{
    CodeExtra *own = code_extra_ensure(code), *extra = code_extra_ensure(payload);
    if (own == NULL || extra == NULL) {
        error_report(code);
        return 0;
    }
    if (extra->partner_serial == own->serial) {
        return extra->partner_fits;
    }
    const char *why_not = code_why_not_linked(code, payload);
    extra->partner_serial = own->serial;
    extra->partner_fits = why_not == NULL;
    if (why_not != NULL) {
        PyErr_Format(PyExc_ValueError, "the code object to run in place of %U was refused: %s", code->co_name, why_not);
        error_report(code);
    }
    return why_not == NULL;
}

PyCodeObject *
marks_accept(PyCodeObject *code, PyObject *payload)
{
    PyObject *linked = payload_code(payload); /* borrowed, then the result */
    if (linked != Py_None && !PyCode_Check(linked)) {
        PyErr_Format(PyExc_TypeError, "a code object or None is to run in place of %U, not %.200s", code->co_name,
                     Py_TYPE(linked)->tp_name);
        error_report(code);
    }
    else if (linked != Py_None && linked != (PyObject *)code && marks_fit(code, (PyCodeObject *)linked)) {
        Py_INCREF(linked);
        return (PyCodeObject *)linked;
    }
    return NULL;
}

void
marks_count(int hit)
{
    marks.hits += hit;
    marks.misses += !hit;
}
