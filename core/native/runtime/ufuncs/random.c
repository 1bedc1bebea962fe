/* Random numbers, one or an array of them, drawn as the methods of NumPy's and Python's generators draw them.
 *
 * numpy.random's generators store the addresses of their functions and of their state, as bitgen.h describes.
 * kernel/bit_generators.py finds the offsets, and the distributions that numpy.random exports. A generator whose lock
 * another thread holds is not touched: the kernel leaves instead. */
#include "runtime/ufuncs/random.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/stores.h"
#include <string.h>
#include <math.h>
#include <numpy/random/bitgen.h>

/* The words up to LEGACY_GAUSS are offsets in bytes from the start of a generator. LOCK_TAKEN is one from the start of
 * its lock. The other words are addresses. */
enum {
    NEW_BITS,
    NEW_LOCK,
    LEGACY_BITS,
    LEGACY_LOCK,
    LEGACY_GAUSS,
    LOCK_TAKEN,
    STANDARD_NORMAL,
    NORMAL,
    STANDARD_EXPONENTIAL,
    EXPONENTIAL,
    BOUNDED,
    PYTHON_METHOD,
    PYTHON_BITS_METHOD,
    DRAW_WORDS
};

static int64_t draw_words[DRAW_WORDS];

/* The second number of a pair, which RandomState keeps. The struct is that of numpy.random's legacy-distributions.h. */
typedef struct {
    bitgen_t *bits;
    int has_second;
    double second;
} LegacyGauss;

/* A normal number by Marsaglia's polar method (Marsaglia and Bray 1964), which makes two at a time. */
static double
legacy_normal_number(LegacyGauss *state)
{
    double x, y, square;

    if (state->has_second) {
        double kept = state->second;
        state->has_second = 0;
        state->second = 0.0;
        return kept;
    }
    do {
        x = 2.0 * state->bits->next_double(state->bits->state) - 1.0;
        y = 2.0 * state->bits->next_double(state->bits->state) - 1.0;
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    double factor = sqrt(-2.0 * log(square) / square);
    state->second = factor * x;
    state->has_second = 1;
    return factor * y;
}

/* Fills an array with integers from low on and below high. */
static void
fill_bounded(bitgen_t *bits, int64_t low, int64_t high, bool masked, int64_t *out, int64_t count)
{
    typedef void (*Fill)(bitgen_t *, uint64_t, uint64_t, npy_intp, bool, uint64_t *);
    ((Fill)draw_words[BOUNDED])(bits, (uint64_t)low, (uint64_t)high - 1 - (uint64_t)low, count, masked, (uint64_t *)out);
}

/* True if the methods draw for this range and scale instead of raising. */
static int
may_draw(int64_t method, const double *numbers, const int64_t *words)
{
    switch (method) {
    case NEW_UNIFORM: return numbers[1] - numbers[0] >= 0.0 && isfinite(numbers[1] - numbers[0]);
    case LEGACY_UNIFORM: return isfinite(numbers[1] - numbers[0]);
    case NEW_NORMAL:
    case LEGACY_NORMAL: return numbers[1] >= 0.0 && !signbit(numbers[1]);
    case NEW_EXPONENTIAL: return numbers[0] >= 0.0 && !signbit(numbers[0]);
    case NEW_INTEGERS:
    case LEGACY_RANDINT: return words[0] < words[1];
    }
    return 1;
}

/* random.random() and getrandbits(count), computed by the methods of the C class. */
static int64_t
draw_of_python(PyObject *generator, int64_t method, int64_t address)
{
    double *number = (double *)address;
    int64_t *word = (int64_t *)address;

    if (method == PYTHON_GETRANDBITS && (*word < 1 || *word > 63)) {
        return BAILED_OUT;
    }
    PyObject *made = method == PYTHON_GETRANDBITS /* owned */
                         ? PyObject_CallFunction((PyObject *)draw_words[PYTHON_BITS_METHOD], "OL", generator, (long long)*word)
                         : ((PyCFunction)draw_words[PYTHON_METHOD])(generator, NULL);
    if (made == NULL) {
        return LAUNCHER_ERROR;
    }
    if (method == PYTHON_GETRANDBITS) {
        *word = PyLong_AsLongLong(made);
    }
    else {
        *number = PyFloat_AS_DOUBLE(made);
    }
    Py_DECREF(made);
    return 0;
}

/* Assigns the expression `number` to each element of `out`. */
#define FILL(number) \
    for (int64_t k = 0; k < count; k++) { \
        out[k] = (number); \
    }

/* Fills `out` with numbers by a method of one of NumPy's generators; `words` are its arguments. The method has been
 * checked by may_draw. */
static void
fill(int64_t owner, int64_t method, const int64_t *words, double *out, int64_t count)
{
    const int64_t *at = draw_words;
    int legacy = method >= LEGACY_RANDOM_SAMPLE;
    double first, second;

    memcpy(&first, words, sizeof(first));
    memcpy(&second, words + 1, sizeof(second));
    bitgen_t *bits = (bitgen_t *)(owner + at[legacy ? LEGACY_BITS : NEW_BITS]);
    LegacyGauss *gauss = (LegacyGauss *)(owner + at[LEGACY_GAUSS]);
    switch (method) {
    case NEW_RANDOM:
    case LEGACY_RANDOM_SAMPLE: FILL(bits->next_double(bits->state)) break;
    case NEW_UNIFORM:
    case LEGACY_UNIFORM: FILL(first + (second - first) * bits->next_double(bits->state)) break;
    case NEW_STANDARD_NORMAL: FILL(((double (*)(bitgen_t *))at[STANDARD_NORMAL])(bits)) break;
    case NEW_NORMAL: FILL(((double (*)(bitgen_t *, double, double))at[NORMAL])(bits, first, second)) break;
    case NEW_STANDARD_EXPONENTIAL: FILL(((double (*)(bitgen_t *))at[STANDARD_EXPONENTIAL])(bits)) break;
    case NEW_EXPONENTIAL: FILL(((double (*)(bitgen_t *, double))at[EXPONENTIAL])(bits, first)) break;
    case LEGACY_STANDARD_NORMAL: FILL(legacy_normal_number(gauss)) break;
    case LEGACY_NORMAL: FILL(first + second * legacy_normal_number(gauss)) break;
    case NEW_INTEGERS:
    case LEGACY_RANDINT: fill_bounded(bits, words[0], words[1], legacy, (int64_t *)out, count); break;
    }
}

/* The count from which on an array is filled without the GIL, as NumPy does. A fill of fewer numbers is so short that
 * taking the generator's lock would cost more. */
#define MANY 2048

/* As fill, without the GIL and with the generator's lock, which no other thread has. */
static int64_t
fill_without_gil(PyObject *lock, int64_t owner, int64_t method, const int64_t *words, double *out, int64_t count)
{
    PyObject *done = PyObject_CallMethod(lock, "acquire", NULL); /* owned */

    if (done == NULL) {
        return LAUNCHER_ERROR;
    }
    Py_DECREF(done);
    Py_BEGIN_ALLOW_THREADS
    fill(owner, method, words, out, count);
    Py_END_ALLOW_THREADS
    done = PyObject_CallMethod(lock, "release", NULL);
    if (done == NULL) { /* the numbers are drawn, so that the kernel must go on */
        PyErr_WriteUnraisable(lock);
        return 0;
    }
    Py_DECREF(done);
    return 0;
}

/* draw_array(generator, method, words, data, count): fills an array in C order; the words are the method's arguments.
 * While the GIL is held, no other thread can begin to draw. */
int64_t
runtime_draw_array(int64_t owner, int64_t method, int64_t words, int64_t data, int64_t count)
{
    int legacy = method >= LEGACY_RANDOM_SAMPLE;
    PyObject *lock = *(PyObject **)(owner + draw_words[legacy ? LEGACY_LOCK : NEW_LOCK]); /* borrowed */

    if (((const char *)lock)[draw_words[LOCK_TAKEN]] || !may_draw(method, (const double *)words, (const int64_t *)words)) {
        return BAILED_OUT;
    }
    if (count >= MANY) {
        return fill_without_gil(lock, owner, method, (const int64_t *)words, (double *)data, count);
    }
    fill(owner, method, (const int64_t *)words, (double *)data, count);
    return 0;
}

/* draw(generator, method, words): the words are the method's arguments. The result replaces the first one. */
int64_t
runtime_draw(int64_t owner, int64_t method, int64_t address)
{
    if (method >= PYTHON_RANDOM) {
        return draw_of_python((PyObject *)owner, method, address);
    }
    return runtime_draw_array(owner, method, address, address, 1);
}

/* draws_configure(words): sets draw_words. */
static PyObject *
draws_configure(PyObject *Py_UNUSED(module), PyObject *words)
{
    int64_t known[DRAW_WORDS];

    if (!PyTuple_Check(words) || PyTuple_GET_SIZE(words) != DRAW_WORDS) {
        return PyErr_Format(PyExc_ValueError, "words must be a tuple of %d integers", (int)DRAW_WORDS);
    }
    for (int k = 0; k < DRAW_WORDS; k++) {
        known[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(words, k));
        if (known[k] == -1 && PyErr_Occurred()) {
            return NULL;
        }
    }
    memcpy(draw_words, known, sizeof(known));
    Py_RETURN_NONE;
}

/* draw(generator, method, address of two words): returns whether a number was drawn. */
static PyObject *
module_draw(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *generator; /* borrowed */
    int method;
    Py_ssize_t address;

    if (!PyArg_ParseTuple(arguments, "Oin", &generator, &method, &address)) {
        return NULL;
    }
    int64_t status = runtime_draw((int64_t)generator, method, (int64_t)address);
    return status == LAUNCHER_ERROR ? NULL : PyBool_FromLong(status == 0);
}

/* draw_array(generator, method, address of two words, address, count): returns whether an array was filled. */
static PyObject *
module_draw_array(PyObject *Py_UNUSED(module), PyObject *arguments)
{
    PyObject *generator; /* borrowed */
    int method;
    Py_ssize_t words, data, count;

    if (!PyArg_ParseTuple(arguments, "Oinnn", &generator, &method, &words, &data, &count)) {
        return NULL;
    }
    if (method < 0 || method >= PYTHON_RANDOM || count < 0) {
        PyErr_SetString(PyExc_ValueError, "method must be one of NumPy's generators, and count not negative");
        return NULL;
    }
    return PyBool_FromLong(runtime_draw_array((int64_t)generator, method, words, data, count) == 0);
}

/* method_address(descriptor): the address of the C function of a method without arguments. */
static PyObject *
module_method_address(PyObject *Py_UNUSED(module), PyObject *method)
{
    if (Py_TYPE(method) != &PyMethodDescr_Type || ((PyMethodDescrObject *)method)->d_method->ml_flags != METH_NOARGS) {
        return PyErr_Format(PyExc_TypeError, "method must be a method descriptor without arguments, got %R", method);
    }
    return PyLong_FromVoidPtr((void *)((PyMethodDescrObject *)method)->d_method->ml_meth);
}

PyMethodDef draw_functions[] = {
    {"draws_configure", draws_configure, METH_O, "Says where random generators keep what kernels draw from."},
    {"draw", module_draw, METH_VARARGS, "Draws as kernels do, by the method of a number, from and to two words."},
    {"draw_array", module_draw_array, METH_VARARGS, "Fills an array as kernels do."},
    {"method_address", module_method_address, METH_O, "The address of the C function of a method descriptor."},
    {NULL},
};
