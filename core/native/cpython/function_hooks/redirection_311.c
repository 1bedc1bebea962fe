/* Redirection of plain Python functions on CPython 3.11: see redirection.h.
 *
 * A redirected function has a trampoline as its code. Its instructions call a TrampolineTarget with all variables that are
 * bound to parameters, and return the result. There is no instruction RESUME, so CPython takes the trampoline's frame for
 * an incomplete one. Tracebacks, sys._getframe and tracers leave it out, except for two events, which are hidden
 * (trampoline_events_311.h). `__code__` and the end of functions are changed in PyFunction_Type. */
#include "cpython/function_hooks/redirection.h"
#include "function_code_inl.h"
#include "cpython/function_hooks/trampoline_events_311.h"
#include "cpython/thread_311_inl.h"

#include <opcode.h>
#include <stddef.h>

#define MOST_PARAMETERS 255   /* as many as one instruction can count */
#define UNITS 10              /* of a trampoline, caches included, besides one for each parameter */
#define NO_LOCATION_OF_8 0xFF /* entry of a line table: 8 units without a position; its last 3 bits are the number, less 1 */

/* The number of variables that a call binds. */
static Py_ssize_t
parameters_count(const PyCodeObject *code)
{
    return code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS) + !!(code->co_flags & CO_VARKEYWORDS);
}

/* hooked_call with the contents of *args and **kwargs. */
static PyObject *
starred_call(PyFunctionObject *function, const PyCodeObject *code, PyObject *const *bound, PyObject *keywords)
{
    Py_ssize_t positional = code->co_argcount, named = code->co_kwonlyargcount, next = positional + named;
    PyObject *rest = code->co_flags & CO_VARARGS ? bound[next++] : NULL;        /* borrowed */
    PyObject *mapping = code->co_flags & CO_VARKEYWORDS ? bound[next++] : NULL; /* borrowed */
    Py_ssize_t more = rest != NULL ? PyTuple_GET_SIZE(rest) : 0, others = mapping != NULL ? PyDict_GET_SIZE(mapping) : 0;
    PyObject **args = PyMem_New(PyObject *, positional + more + named + others + 1); /* owned; the items are borrowed */
    PyObject *names = named + others > 0 ? PyTuple_New(named + others) : NULL, *result = NULL; /* owned */
    if (args == NULL || (names == NULL && named + others > 0)) {
        PyMem_Free(args);
        Py_XDECREF(names);
        return PyErr_NoMemory();
    }
    Py_ssize_t count = 0, name = 0, at = 0;
    for (Py_ssize_t i = 0; i < positional; i++) {
        args[count++] = bound[i];
    }
    for (Py_ssize_t i = 0; i < more; i++) {
        args[count++] = PyTuple_GET_ITEM(rest, i);
    }
    for (; name < named; name++) {
        PyTuple_SET_ITEM(names, name, Py_NewRef(PyTuple_GET_ITEM(keywords, name)));
        args[count++] = bound[positional + name];
    }
    PyObject *key, *value; /* borrowed */
    while (mapping != NULL && PyDict_Next(mapping, &at, &key, &value)) {
        PyTuple_SET_ITEM(names, name++, Py_NewRef(key));
        args[count++] = value;
    }
    result = hooked_call((PyObject *)function, args, positional + more, names);
    PyMem_Free(args);
    Py_XDECREF(names);
    return result;
}

static PyObject *
target_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *Py_UNUSED(names))
{
    TrampolineTarget *target = (TrampolineTarget *)self;
    const PyCodeObject *code = (PyCodeObject *)target->code;
    PyFunctionObject *function = target->function; /* owned below */
    if (function == NULL || PyVectorcall_NARGS(nargsf) != parameters_count(code)) {
        PyErr_SetString(PyExc_SystemError, "a trampoline runs, but its function is not redirected");
        return NULL;
    }
    PyThreadState *tstate = PyThreadState_Get();
    Py_INCREF(function);
    thread_refund_call(tstate);                                       /* the trampoline's level */
    PyObject *result = code->co_flags & (CO_VARARGS | CO_VARKEYWORDS) /* owned, given away */
                           ? starred_call(function, code, args, target->keywords)
                           : hooked_call((PyObject *)function, args, code->co_argcount, target->keywords);
    thread_charge_call(tstate);
    Py_DECREF(function);
    if (thread_is_traced(tstate) && trampoline_events_hide(tstate, self) < 0) {
        Py_CLEAR(result);
    }
    return result;
}

static void
target_dealloc(PyObject *self)
{
    TrampolineTarget *target = (TrampolineTarget *)self;
    Py_XDECREF(target->code);
    Py_XDECREF(target->keywords);
    PyObject_Free(self);
}

static PyTypeObject TrampolineTarget_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = TRAMPOLINE_TARGET,
    .tp_basicsize = sizeof(TrampolineTarget),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(TrampolineTarget, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_dealloc = target_dealloc,
};

/* NEW reference, or NULL with an exception set. */
static PyObject *
target_make(PyFunctionObject *function)
{
    PyCodeObject *code = (PyCodeObject *)function->func_code;                          /* borrowed */
    TrampolineTarget *target = PyObject_New(TrampolineTarget, &TrampolineTarget_Type); /* owned, given away */
    if (target == NULL) {
        return NULL;
    }
    target->vectorcall = target_call;
    target->function = function;
    target->code = Py_NewRef((PyObject *)code);
    target->keywords = NULL;
    if (code->co_kwonlyargcount > 0) {
        PyObject *names = PyCode_GetVarnames(code); /* owned */
        target->keywords = names != NULL
                               ? PyTuple_GetSlice(names, code->co_argcount, code->co_argcount + code->co_kwonlyargcount)
                               : NULL;
        Py_XDECREF(names);
        if (target->keywords == NULL) {
            Py_CLEAR(target);
        }
    }
    return (PyObject *)target;
}

/* The instructions and the line table of a trampoline: their numbers of bytes are in `sizes`. */
static void
trampoline_write(Py_ssize_t parameters, unsigned char *code, unsigned char *lines, Py_ssize_t *sizes)
{
    Py_ssize_t units = UNITS + parameters, at = 0;
    memset(code, 0, 2 * units);
    const unsigned char before[] = {PUSH_NULL, 0, LOAD_CONST, 0};
    const unsigned char after[] = {PRECALL,      (unsigned char)parameters,
                                   CACHE,        0,
                                   CALL,         (unsigned char)parameters,
                                   CACHE,        0,
                                   CACHE,        0,
                                   CACHE,        0,
                                   CACHE,        0,
                                   RETURN_VALUE, 0};
    memcpy(code, before, sizeof before);
    for (Py_ssize_t i = 0; i < parameters; i++) {
        code[sizeof before + 2 * i] = LOAD_FAST;
        code[sizeof before + 2 * i + 1] = (unsigned char)i;
    }
    memcpy(code + sizeof before + 2 * parameters, after, sizeof after);
    for (Py_ssize_t left = units; left > 0; left -= 8) {
        lines[at++] = (unsigned char)(left >= 8 ? NO_LOCATION_OF_8 : NO_LOCATION_OF_8 - 8 + left);
    }
    sizes[0] = 2 * units;
    sizes[1] = at;
}

/* NEW reference to the trampoline of a function, or NULL with an exception set. */
static PyObject *
trampoline_make(PyFunctionObject *function)
{
    unsigned char instructions[2 * (UNITS + MOST_PARAMETERS)], lines[(UNITS + MOST_PARAMETERS) / 8 + 1];
    Py_ssize_t parameters = parameters_count((PyCodeObject *)function->func_code), sizes[2];
    if (parameters > MOST_PARAMETERS) {
        PyErr_SetString(PyExc_RuntimeError, "a function with that many parameters cannot be redirected");
        return NULL;
    }
    trampoline_write(parameters, instructions, lines, sizes);
    PyObject *target = target_make(function);                                   /* owned, given to `parts` */
    PyObject *replace = PyObject_GetAttrString(function->func_code, "replace"); /* owned */
    PyObject *none = PyTuple_New(0), *made = NULL;                              /* owned; owned, given away */
    PyObject *parts = target == NULL || replace == NULL || none == NULL
                          ? NULL /* owned */
                          : Py_BuildValue("{s:y#,s:y#,s:y#,s:(O),s:(),s:n}", "co_code", instructions, sizes[0], "co_linetable",
                                          lines, sizes[1], "co_exceptiontable", "", (Py_ssize_t)0, "co_consts", target,
                                          "co_names", "co_stacksize", parameters + 3);
    if (parts != NULL) {
        made = PyObject_Call(replace, none, parts);
    }
    Py_XDECREF(parts);
    Py_XDECREF(none);
    Py_XDECREF(replace);
    Py_XDECREF(target);
    return made;
}

/* Give a function other code; specialized call sites notice it. */
static void
function_set_code(PyFunctionObject *function, PyObject *code)
{
    function->func_version = 0;
    Py_INCREF(code);
    Py_SETREF(function->func_code, code);
}

int
redirection_begin(Redirection *redirection, PyFunctionObject *function)
{
    *redirection = (Redirection){function, function->func_code, NULL, trampoline_make(function)};
    return redirection->trampoline != NULL ? 0 : -1;
}

void
redirection_end(Redirection *redirection)
{
    redirection_off(redirection);
    trampoline_target((PyCodeObject *)redirection->trampoline)->function = NULL;
    Py_CLEAR(redirection->trampoline);
}

void
redirection_on(Redirection *redirection)
{
    function_set_code(redirection->function, redirection->trampoline);
}

void
redirection_off(Redirection *redirection)
{
    if (redirection->function->func_code == redirection->trampoline) {
        function_set_code(redirection->function, redirection->code);
    }
}

/* CPython's own implementation of what is changed in PyFunction_Type. */
static struct {
    getter code_get;
    setter code_set, defaults_set, kwdefaults_set;
    destructor dealloc;
    inquiry clear;
} own;

static PyObject *
function_get_code(PyObject *function, void *closure)
{
    PyObject *code = own.code_get(function, closure); /* owned, given away */
    const TrampolineTarget *target = code != NULL ? trampoline_target((PyCodeObject *)code) : NULL;
    if (target != NULL) {
        Py_INCREF(target->code);
        Py_SETREF(code, target->code);
    }
    return code;
}

static int
changed_code(PyObject *function, PyObject *value, void *closure)
{
    hook_forget((PyFunctionObject *)function);
    return own.code_set(function, value, closure);
}

static int
changed_defaults(PyObject *function, PyObject *value, void *closure)
{
    hook_forget((PyFunctionObject *)function);
    return own.defaults_set(function, value, closure);
}

static int
changed_kwdefaults(PyObject *function, PyObject *value, void *closure)
{
    hook_forget((PyFunctionObject *)function);
    return own.kwdefaults_set(function, value, closure);
}

static void
function_dealloc(PyObject *function)
{
    hook_forget((PyFunctionObject *)function);
    own.dealloc(function);
}

static int
function_clear(PyObject *function)
{
    hook_forget((PyFunctionObject *)function);
    return own.clear(function);
}

/* Replace the setter of an attribute of functions, and its getter if one is given. */
static void
attribute_replace(const char *name, getter get, getter *own_get, setter set, setter *own_set)
{
    for (PyGetSetDef *attribute = PyFunction_Type.tp_getset; attribute->name != NULL; attribute++) {
        if (strcmp(attribute->name, name) == 0) {
            if (get != NULL) {
                *own_get = attribute->get;
                attribute->get = get;
            }
            *own_set = attribute->set;
            attribute->set = set;
        }
    }
}

int
redirection_watch(void)
{
    if (own.dealloc != NULL) {
        return 0;
    }
    if (PyType_Ready(&TrampolineTarget_Type) < 0) {
        return -1;
    }
    attribute_replace("__code__", function_get_code, &own.code_get, changed_code, &own.code_set);
    attribute_replace("__defaults__", NULL, NULL, changed_defaults, &own.defaults_set);
    attribute_replace("__kwdefaults__", NULL, NULL, changed_kwdefaults, &own.kwdefaults_set);
    own.clear = PyFunction_Type.tp_clear;
    own.dealloc = PyFunction_Type.tp_dealloc;
    PyFunction_Type.tp_clear = function_clear;
    PyFunction_Type.tp_dealloc = function_dealloc;
    return 0;
}
