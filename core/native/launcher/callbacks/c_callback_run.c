/* A call of a CCallback: the kernel, or the function itself where the kernel does not compute the call.
 *
 * The kernel has no effects except on arrays among the arguments, so a call that it leaves can be repeated. All
 * functions need the GIL, and are called without an exception set. */
#include "cpython/caller.h"
#include "cpython/eval_breaker/eval_breaker.h"
#include "launcher/callbacks/c_callback.h"
#include "launcher/exits_inl.h"
#include "launcher/kernel_frame_inl.h"
#include "launcher/marshal/inputs_inl.h"
#include "launcher/marshal/words_inl.h"
#include "runtime/entries.h"

#define MOST_WORDS 256
/* After LEFT_ENOUGH calls in a row that the kernel has left, REST calls do not try it. */
#define LEFT_ENOUGH 16
#define REST 63

int (*thread_off)(void);

/* Let the interpreter do what it would do between two bytecodes: run signal handlers, hand over the GIL. A C function may
 * make calls for a long time without any bytecode. 0, or -1 with an exception set. */
static int
requests_serve(void)
{
    return breaker_polled(0) && runtime_served() < 0 ? -1 : 0;
}

/* Whether a call may run the kernel: nobody has switched kernels off, and no tracer wants to see the function. */
static int
kernel_may_run(CCallback *self)
{
    if (self->rest > 0) {
        self->rest--;
        return 0;
    }
    if (!self->launcher->enabled || (thread_off != NULL && thread_off()) || thread_is_traced(PyThreadState_Get())) {
        return 0;
    }
    return !monitoring_in_use()
           || !(monitoring_listens_to(self->code) || guards_api->program_has_code(self->program, monitoring_listens_to));
}

static void
outcome_note(CCallback *self, int ran)
{
    self->kernel_calls += ran == 1;
    self->left = ran == 1 ? 0 : self->left + 1;
    if (self->left >= LEFT_ENOUGH) {
        self->rest = REST;
    }
}

/* The number that an exit returns: 1; 0 if it is no number of the supported kinds; -1: an exception is set. */
static int
number_read(const CCallback *self, const Output *output, const int64_t *frame, const double *numbers, double *number)
{
    switch (output->kind) {
    case OUT_FLOAT: *number = double_from_word(frame[output->word]); return 1;
    case OUT_INT:
    case OUT_BOOL: *number = (double)frame[output->word]; return 1;
    case OUT_SCALAR:
        if (output->typenum != NPY_DOUBLE && output->typenum != NPY_FLOAT) {
            return 0;
        }
        *number = double_from_word(frame[output->word]);
        return 1;
    case OUT_CONST: *number = PyFloat_AsDouble(output->object); return *number == -1.0 && PyErr_Occurred() ? -1 : 1;
    case OUT_FETCHED:
        if (self->places[output->input] < 0) {
            return 0;
        }
        *number = numbers[self->places[output->input]];
        return 1;
    default: return 0;
    }
}

/* Run the kernel on a frame whose inputs are set; as numbers_run. */
static int
frame_run(CCallback *self, int64_t *frame, const double *numbers, double *number)
{
    Launcher *launcher = self->launcher; /* borrowed */
    OwnedList owned;
    int ran = 0;

    frame_begin(launcher, frame, &owned);
    int64_t left = launcher->kernel(frame);
    launcher->calls++;
    if (left >= 0) {
        int64_t id = left & (((int64_t)1 << CAUSE_SHIFT) - 1), cause = left >> CAUSE_SHIFT;
        if (cause > 0) {
            cause_count(launcher, cause);
        }
        Exit *exit = &launcher->exits[id];
        exit->taken++;
        if (exit->returns) {
            ran = number_read(self, &exit->items[exit->count - 1], frame, numbers, number);
        }
    }
    else if (left == LAUNCHER_ERROR) {
        ran = -1;
    }
    owned_clear(&owned);
    return ran;
}

/* Run the kernel on numbers, without objects for them: 1; 0 if it does not compute the call; -1: an exception is set. */
static int
numbers_run(CCallback *self, const double *numbers, double *number)
{
    int64_t frame[MOST_WORDS];
    PyObject *fetched[CALLBACK_INPUTS]; /* items owned */
    PyObject **next = fetched;
    int64_t *words = frame + FIRST_INPUT_WORD;
    int fits = 1;

    if (!guards_api->program_check(self->short_program, self->roots, self->nroots, self->globals, self->builtins, fetched)) {
        return 0;
    }
    for (Py_ssize_t i = 0; i < self->launcher->ninputs && fits; i++) {
        const Input *input = &self->launcher->inputs[i];
        if (self->places[i] >= 0) {
            if (input->kind == IN_FLOAT) {
                words[0] = word_from_double(numbers[self->places[i]]);
            }
        }
        else {
            fits = input_load(input, *next++, words);
        }
        words += input->words;
    }
    int ran = fits ? frame_run(self, frame, numbers, number) : 0;
    Py_ssize_t count = guards_api->program_fetch_count(self->short_program);
    while (count > 0) {
        Py_DECREF(fetched[--count]);
    }
    return ran;
}

/* Whether numbers_run is for this call: it does not time kernels, and keeps the GIL. */
static int
numbers_suffice(const CCallback *self)
{
    const Launcher *launcher = self->launcher; /* borrowed */
    return self->short_program != NULL && kernel_clock.watchers == 0 && !launcher->nogil && launcher->kernel != NULL
           && launcher->words <= MOST_WORDS;
}

/* Run the kernel on the inputs that the guards have fetched; as callback_kernel. */
static int
inputs_launch(CCallback *self, PyObject *const *inputs, Py_ssize_t count, PyObject **result)
{
    Left left; /* the values are not cleared: none is stored */
    left.lands = NULL;
    left.nexits = 0;
    Launched status = launcher_launch((PyObject *)self->launcher, inputs, count, self->globals, self->builtins, &left, result);
    if (status == LAUNCH_RETURNED) {
        return 1;
    }
    if (status != LAUNCH_MISSED && *result == NULL) {
        return -1;
    }
    Py_CLEAR(*result);
    return 0;
}

int
callback_kernel(CCallback *self, PyObject *const *arguments, PyObject **result)
{
    PyObject *roots[CALLBACK_ROOTS];   /* borrowed */
    PyObject *inputs[CALLBACK_INPUTS]; /* items owned */

    self->calls++;
    *result = NULL;
    if (!kernel_may_run(self)) {
        return 0;
    }
    if (requests_serve() < 0) {
        return -1;
    }
    memcpy(roots, self->roots, self->nroots * sizeof(PyObject *));
    memcpy(roots + self->first, arguments, self->count * sizeof(PyObject *));
    int ran = 0;
    if (guards_api->program_check(self->program, roots, self->nroots, self->globals, self->builtins, inputs)) {
        Py_ssize_t count = self->launcher->ninputs;
        ran = inputs_launch(self, inputs, count, result);
        while (count > 0) {
            Py_DECREF(inputs[--count]);
        }
    }
    outcome_note(self, ran);
    return ran;
}

PyObject *
callback_function(CCallback *self, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *args = PyTuple_New(count); /* owned */
    if (args == NULL) {
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_INCREF(arguments[i]);
        PyTuple_SET_ITEM(args, i, arguments[i]);
    }
    PyObject *result = PyObject_Call(self->function, args, NULL); /* owned, given away */
    Py_DECREF(args);
    return result;
}

/* As callback_number, with objects for the numbers, which are in `objects`. */
static PyObject *
number_object(CCallback *self, PyObject *const *objects, Py_ssize_t count, int try_kernel)
{
    PyObject *result = NULL; /* owned, given away */
    int ran = try_kernel ? callback_kernel(self, objects, &result) : 0;
    return ran == 0 ? callback_function(self, objects, count) : result;
}

static int
number_boxed(CCallback *self, const double *numbers, Py_ssize_t count, int try_kernel, double *number)
{
    PyObject **objects = PyMem_New(PyObject *, count); /* owned; items owned */
    PyObject *result = NULL;                           /* owned */
    Py_ssize_t made = 0;

    if (objects == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    while (made < count && (objects[made] = PyFloat_FromDouble(numbers[made])) != NULL) {
        made++;
    }
    if (made == count) {
        result = number_object(self, objects, count, try_kernel);
    }
    if (result != NULL) {
        *number = PyFloat_AsDouble(result);
        Py_DECREF(result);
    }
    while (made > 0) {
        Py_DECREF(objects[--made]);
    }
    PyMem_Free(objects);
    return PyErr_Occurred() ? -1 : 0;
}

int
callback_number(CCallback *self, const double *numbers, Py_ssize_t count, double *number)
{
    if (count != self->count) {
        self->calls++;
        return number_boxed(self, numbers, count, 0, number);
    }
    if (!numbers_suffice(self)) {
        return number_boxed(self, numbers, count, 1, number);
    }
    self->calls++;
    if (kernel_may_run(self)) {
        if (requests_serve() < 0) {
            return -1;
        }
        int ran = numbers_run(self, numbers, number);
        outcome_note(self, ran);
        if (ran != 0) {
            return ran > 0 ? 0 : -1;
        }
    }
    return number_boxed(self, numbers, count, 0, number);
}
