/* ErrorContexts: see error_contexts.h. The GIL guards all state. A call owns what it uses, because it may run code that
 * sets other states. */
#include "function/gradients/error_contexts.h"

/* The first fields of a context on 3.7 to 3.13. `variables_of` checks what it reads by the name of its type. */
typedef struct {
    PyObject_HEAD
    PyObject *previous;  /* borrowed here */
    PyObject *variables; /* borrowed here; an immutable mapping */
} ContextHead;

static PyTypeObject *mapping_type; /* borrowed: a static type; NULL until it is known, or if contexts are not like this */

/* Borrowed reference to the mapping of a context; NULL if there is none. */
static inline PyObject *
variables_of(PyObject *context)
{
    return context != NULL && mapping_type != NULL ? ((ContextHead *)context)->variables : NULL;
}

/* Find out whether contexts are like ContextHead: a copy has the mapping of the original. */
static void
layout_check(void)
{
    PyObject *current = PyThreadState_Get()->context, *copy; /* borrowed, owned */
    if (mapping_type != NULL || current == NULL) {
        return;
    }
    if ((copy = PyContext_CopyCurrent()) == NULL) {
        PyErr_Clear();
        return;
    }
    PyObject *variables = ((ContextHead *)copy)->variables; /* borrowed */
    if (variables != NULL && variables == ((ContextHead *)current)->variables
        && strcmp(Py_TYPE(variables)->tp_name, "hamt") == 0) {
        mapping_type = Py_TYPE(variables);
    }
    Py_DECREF(copy);
}

static void
copies_drop(ErrorContexts *self)
{
    Py_CLEAR(self->variables);
    for (int i = 0; i < ERROR_STATES; i++) {
        Py_CLEAR(self->copies[i]);
    }
}

void
error_contexts_set(ErrorContexts *self, PyObject *variable, PyObject *const *states)
{
    layout_check();
    copies_drop(self);
    Py_INCREF(variable);
    Py_XSETREF(self->variable, variable);
    for (int i = 0; i < ERROR_STATES; i++) {
        Py_INCREF(states[i]);
        Py_XSETREF(self->states[i], states[i]);
    }
}

int
error_contexts_traverse(const ErrorContexts *self, visitproc visit, void *arg)
{
    Py_VISIT(self->variable);
    Py_VISIT(self->variables);
    for (int i = 0; i < ERROR_STATES; i++) {
        Py_VISIT(self->states[i]);
        Py_VISIT(self->copies[i]);
    }
    return 0;
}

void
error_contexts_release(ErrorContexts *self)
{
    copies_drop(self);
    Py_CLEAR(self->variable);
    for (int i = 0; i < ERROR_STATES; i++) {
        Py_CLEAR(self->states[i]);
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------ */

/* NEW reference to callable(*args) with a context variable set; NULL with an exception set. */
static PyObject *
call_with(PyObject *variable, PyObject *state, PyObject *callable, PyObject *args)
{
    PyObject *token = PyContextVar_Set(variable, state); /* owned */
    if (token == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_Call(callable, args, NULL); /* owned, given away */
    PyObject *type, *value, *traceback;                     /* owned, given back */
    PyErr_Fetch(&type, &value, &traceback);
    if (PyContextVar_Reset(variable, token) < 0) {
        Py_CLEAR(result);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(traceback);
    }
    else {
        PyErr_Restore(type, value, traceback);
    }
    Py_DECREF(token);
    return result;
}

/* NEW reference to a copy of the current context with a context variable set; NULL with an exception set. */
static PyObject *
copy_with(PyObject *variable, PyObject *state)
{
    PyObject *copy = PyContext_CopyCurrent(); /* owned, given away */
    if (copy == NULL || PyContext_Enter(copy) < 0) {
        Py_XDECREF(copy);
        return NULL;
    }
    PyObject *token = PyContextVar_Set(variable, state); /* owned */
    if (PyContext_Exit(copy) < 0 || token == NULL) {
        Py_CLEAR(copy);
    }
    Py_XDECREF(token);
    return copy;
}

/* NEW reference to a context with an error state; NULL if there is none, without an exception. */
static PyObject *
context_of(ErrorContexts *self, const CallErrorState *wanted)
{
    PyObject *variables = variables_of(PyThreadState_Get()->context); /* borrowed */
    int state = wanted->which;
    if (variables == NULL || self->variable != wanted->variable || self->states[state] != wanted->state) {
        return NULL;
    }
    if (self->variables != variables) {
        Py_INCREF(variables); /* before finalizers run, which may set others */
        copies_drop(self);
        Py_XSETREF(self->variables, variables);
    }
    if (self->copies[state] == NULL && (self->copies[state] = copy_with(self->variable, self->states[state])) == NULL) {
        PyErr_Clear();
    }
    Py_XINCREF(self->copies[state]);
    return self->copies[state];
}

/* Set in the current context what code has set in another one, except NumPy's variable: 0, or -1 with an exception set. */
static int
changes_keep(PyObject *context, PyObject *except)
{
    PyObject *view = PyObject_CallMethod(context, "items", NULL);           /* owned */
    PyObject *items = view == NULL ? NULL : PySequence_Fast(view, "items"); /* owned */
    Py_XDECREF(view);
    int failed = items == NULL;
    for (Py_ssize_t i = 0; !failed && i < PySequence_Fast_GET_SIZE(items); i++) {
        PyObject *item = PySequence_Fast_GET_ITEM(items, i);                                             /* borrowed */
        PyObject *variable = PyTuple_GET_ITEM(item, 0), *value = PyTuple_GET_ITEM(item, 1), *now = NULL; /* last owned */
        if (variable == except) {
            continue;
        }
        failed = PyContextVar_Get(variable, NULL, &now) < 0;
        if (!failed && now != value) {
            PyObject *token = PyContextVar_Set(variable, value); /* owned */
            failed = token == NULL;
            Py_XDECREF(token);
        }
        Py_XDECREF(now);
    }
    Py_XDECREF(items);
    return failed ? -1 : 0;
}

/* Leave a context that had the mapping `before`. Variables that code has set in it are set in the caller's context, too.
 * An exception stays set. 0, or -1 with another exception set. */
static int
context_leave(ErrorContexts *self, PyObject *context, const PyObject *before, PyObject *variable)
{
    PyObject *type, *value, *traceback; /* owned, given back */
    int changed = variables_of(context) != before;
    PyErr_Fetch(&type, &value, &traceback);
    int failed = PyContext_Exit(context) < 0;
    if (changed) {
        copies_drop(self);
        failed = failed || changes_keep(context, variable) < 0;
    }
    if (!failed) {
        PyErr_Restore(type, value, traceback);
        return 0;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

CallErrorState
error_state_take(ErrorContexts *self, int which)
{
    CallErrorState taken = {self->variable, self->states[which], which};
    Py_INCREF(taken.variable);
    Py_INCREF(taken.state);
    return taken;
}

void
error_state_release(CallErrorState *state)
{
    Py_CLEAR(state->variable);
    Py_CLEAR(state->state);
}

PyObject *
error_state_call(ErrorContexts *self, const CallErrorState *state, PyObject *callable, PyObject *args)
{
    PyObject *context = context_of(self, state);           /* owned */
    if (context != NULL && PyContext_Enter(context) < 0) { /* another call is in it */
        PyErr_Clear();
        Py_CLEAR(context);
    }
    if (context == NULL) {
        return call_with(state->variable, state->state, callable, args);
    }
    PyObject *before = variables_of(context); /* owned */
    Py_INCREF(before);
    PyObject *result = PyObject_Call(callable, args, NULL); /* owned, given away */
    if (context_leave(self, context, before, state->variable) < 0) {
        Py_CLEAR(result);
    }
    Py_DECREF(before);
    Py_DECREF(context);
    return result;
}
