/* Function hooks from CPython 3.11 on: calls of plain Python functions go to a JitFunction, as long as that may pay.
 *
 * A table has the JitFunction of each hooked function. The JitFunction has a twin of the function, which it calls, so that
 * neither keeps the other alive.
 *
 * A hook costs more than the call of a small function. It is removed in two cases. A cold function that is called often
 * is sampled instead (stack_sampler.h), and gets its hook back when it has become hot. A function whose kernels do not
 * serve its calls loses its entry in the table. So does one that dies, or gets other code or defaults. */
#include "cpython/function_hooks/function_hooks.h"
#include "function_code_inl.h"
#include "cpython/function_hooks/redirection.h"
#include "cpython/function_hooks/stack_sampler.h"
#include "function/tiering/cold_functions_inl.h"
#include "function/jit_function.h"

#define MOST_IN_VAIN 2000    /* calls in a row that compiled code does not serve; then the entry is removed */
#define TIMED 1024           /* the number of calls that are timed, before the function is sampled */
#define LONGEST_SAMPLED 5000 /* ns per call of a function with loops that is sampled: its calls do not ask there */

typedef struct {
    Redirection calls;    /* of the function, which is NULL in a free place; hook_forget removes dead ones */
    JitFunction *target;  /* owned */
    int in_vain;          /* calls in a row, of a function that is not cold, that ran the original */
    char sampled;         /* there is no hook: the sampler counts the time */
    unsigned long sample; /* the number of the last sample that counted */
} Hook;

/* An open-addressing table with linear probing, by code object. Its size is a power of two, at least twice the count. */
static struct {
    Hook *hooks; /* owned; NULL before the first hook */
    size_t size, count;
} table;

static size_t
place_of(const PyObject *code, size_t size)
{
    return ((size_t)code >> 4) * 0x9E3779B97F4A7C15u >> 20 & (size - 1);
}

/* The hook of a function, or the free place for it. The table has free places. */
static Hook *
hook_find(Hook *hooks, size_t size, PyFunctionObject *function)
{
    size_t place = place_of(function_code(function), size);
    while (hooks[place].calls.function != NULL && hooks[place].calls.function != function) {
        place = (place + 1) & (size - 1);
    }
    return &hooks[place];
}

static Hook *
hook_of(PyFunctionObject *function)
{
    Hook *hook = table.count > 0 && function->func_code != NULL ? hook_find(table.hooks, table.size, function) : NULL;
    return hook != NULL && hook->calls.function != NULL ? hook : NULL;
}

/* Remove an entry, and move those after it that would not be found any more. The function is called as before. */
static void
hook_remove(Hook *hook)
{
    JitFunction *target = hook->target; /* owned */
    redirection_end(&hook->calls);
    size_t hole = hook - table.hooks;
    for (size_t at = (hole + 1) & (table.size - 1); table.hooks[at].calls.function != NULL; at = (at + 1) & (table.size - 1)) {
        size_t home = place_of(table.hooks[at].calls.code, table.size);
        if (((at - home) & (table.size - 1)) >= ((at - hole) & (table.size - 1))) {
            table.hooks[hole] = table.hooks[at];
            hole = at;
        }
    }
    table.hooks[hole].calls.function = NULL;
    table.count--;
    Py_DECREF(target);
}

/* Whether the calls of a cold function are too short and too many to be timed. */
static int
heat_is_settled(const Heat *heat)
{
    int64_t calls = (int64_t)(heat->calls + heat->nested), ns = heat_so_far(heat);
    return calls >= TIMED && ns < heat->next && (!heat->looping || ns < calls * LONGEST_SAMPLED);
}

/* Before a call: whether the hook is needless, and removed. The entry may be freed. */
static int
hook_is_over(Hook *hook)
{
    JitFunction *target = hook->target; /* borrowed */
    if (target->py_func == NULL) {
        hook_remove(hook);
        return 1;
    }
    if (target->heat.ask != NULL) {
        if (heat_is_settled(&target->heat) && sampler_start()) {
            hook->sampled = 1;
            redirection_off(&hook->calls);
        }
        return hook->sampled;
    }
    hook->in_vain = target->pace.rest > 0 ? hook->in_vain + 1 : target->pace.in_vain > 0 ? hook->in_vain : 0;
    if (hook->in_vain > MOST_IN_VAIN) {
        hook_remove(hook);
        return 1;
    }
    return 0;
}

/* Give the twin what calls show of a function besides code and defaults: its qualified name, in messages. */
static void
twin_update(PyFunctionObject *twin, PyFunctionObject *function)
{
    if (twin->func_qualname != function->func_qualname) {
        Py_INCREF(function->func_qualname);
        Py_SETREF(twin->func_qualname, function->func_qualname);
    }
}

PyObject *
hooked_call(PyObject *function, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Hook *hook = hook_of((PyFunctionObject *)function);
    JitFunction *target = hook != NULL ? hook->target : NULL; /* owned: the call may remove the hook */
    if (target == NULL) {
        PyErr_SetString(PyExc_SystemError, "a hooked function is not in the table of hooks");
        return NULL;
    }
    if (hook_is_over(hook)) {
        return PyObject_Vectorcall(function, args, nargsf, names);
    }
    Py_INCREF(target);
    twin_update((PyFunctionObject *)target->py_func, (PyFunctionObject *)function);
    PyObject *result = target->vectorcall((PyObject *)target, args, nargsf, names); /* owned, given away */
    Py_DECREF(target);
    return result;
}

/* Hook a sampled function again. */
static void
hook_install(Hook *hook)
{
    hook->sampled = 0;
    redirection_on(&hook->calls);
}

void
hooks_add_sample(PyObject *code, int64_t ns, unsigned long sample)
{
    if (table.count == 0) {
        return;
    }
    for (size_t at = place_of(code, table.size); table.hooks[at].calls.function != NULL; at = (at + 1) & (table.size - 1)) {
        Hook *hook = &table.hooks[at];
        if (hook->calls.code != code || !hook->sampled || hook->sample == sample) {
            continue;
        }
        Heat *heat = &hook->target->heat; /* borrowed */
        hook->sample = sample;
        heat->spent += heat->start == 0 ? ns : 0;
        if (heat->ask == NULL || heat_so_far(heat) >= heat->next) {
            hook_install(hook);
        }
    }
}

void
hook_forget(PyFunctionObject *function)
{
    Hook *hook = hook_of(function);
    if (hook != NULL) {
        hook_remove(hook);
    }
}

/* Room for one hook more: 0, or -1 with an exception set. */
static int
table_grow(void)
{
    if (table.size >= 2 * (table.count + 1)) {
        return 0;
    }
    size_t size = table.size > 0 ? 2 * table.size : 64;
    Hook *hooks = PyMem_New(Hook, size); /* owned, then the table's */
    if (hooks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(hooks, 0, size * sizeof(Hook));
    for (size_t at = 0; at < table.size; at++) {
        if (table.hooks[at].calls.function != NULL) {
            *hook_find(hooks, size, table.hooks[at].calls.function) = table.hooks[at];
        }
    }
    PyMem_Free(table.hooks);
    table.hooks = hooks;
    table.size = size;
    return 0;
}

static PyObject *
hook_function(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyFunctionObject *function; /* borrowed */
    JitFunction *target;        /* borrowed */
    if (!PyArg_ParseTuple(args, "O!O!:hook_function", &PyFunction_Type, &function, &JitFunction_Type, &target)) {
        return NULL;
    }
    if (target->py_func == (PyObject *)function || hook_of(function) != NULL) {
        return PyErr_Format(PyExc_ValueError, "hook_function: the function is %s",
                            hook_of(function) != NULL ? "hooked" : "that of the JitFunction, which would call itself");
    }
    Redirection calls; /* owned, then the table's */
    if (redirection_watch() < 0 || table_grow() < 0 || redirection_begin(&calls, function) < 0) {
        return NULL;
    }
    Hook *hook = hook_find(table.hooks, table.size, function);
    Py_INCREF(target);
    *hook = (Hook){.calls = calls, .target = target};
    table.count++;
    redirection_on(&hook->calls);
    Py_RETURN_NONE;
}

static PyObject *
hooked(PyObject *Py_UNUSED(module), PyObject *function)
{
    Hook *hook = PyFunction_Check(function) ? hook_of((PyFunctionObject *)function) : NULL;
    return Py_NewRef(hook != NULL ? (PyObject *)hook->target : Py_None);
}

/* Hook the sampled functions again: their calls are timed, and those that are called often are sampled again. */
static void
hooks_install_all(void)
{
    for (size_t at = 0; at < table.size; at++) {
        if (table.hooks[at].calls.function != NULL && table.hooks[at].sampled) {
            hook_install(&table.hooks[at]);
        }
    }
}

static PyObject *
pause_sampler(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    sampler_stop(0);
    hooks_install_all();
    Py_RETURN_NONE;
}

static PyObject *
end_sampler(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    sampler_stop(1);
    Py_RETURN_NONE;
}

static PyMethodDef hook_methods[] = {
    {"hook_function", hook_function, METH_VARARGS,
     "hook_function(function, target)\n--\n\nLet calls of a function go to a JitFunction of a twin of it."},
    {"hooked", hooked, METH_O,
     "hooked(function)\n--\n\nThe JitFunction that calls of a function go to; None: it has no hook."},
    {"pause_sampler", pause_sampler, METH_NOARGS,
     "pause_sampler()\n--\n\nEnd the sampler's thread until a function is sampled again; sampled functions are hooked again."},
    {"end_sampler", end_sampler, METH_NOARGS, "end_sampler()\n--\n\nEnd the sampler's thread for good."},
    {NULL},
};

int
function_hooks_add(PyObject *module)
{
    return PyModule_AddFunctions(module, hook_methods);
}
