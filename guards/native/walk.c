/* Evaluation of a guard program: walks its steps over the roots of a call.
 *
 * The functions for sources and conditions are inlined here, so that a step costs a predicted branch and no call. An
 * evaluation keeps fetched objects in registers on the C stack and allocates nothing, except one block for programs of
 * more than 64 registers. No exception leaves an evaluation: an exception during a fetch fails the guard. */
#include "checks/check_inl.h"
#include "fetch_inl.h"
#include "mirror.h"
#include "program.h"

#define REGISTERS_ON_STACK 64

static inline PyObject *
step_fetch(const Step *step, const Roots *roots, PyObject *const *registers)
{
    PyObject *type; /* owned */
    switch (step->operation) {
    case FETCH_CELL: return cell_fetch(roots, step->number);
    case FETCH_GLOBAL: return global_fetch(roots, step->object);
    case FETCH_SCOPE: Py_XINCREF(roots->globals); return roots->globals;
    case FETCH_ATTR: return attribute_fetch(registers[step->a], step->object);
    case FETCH_ITEM: return item_fetch(registers[step->a], step->object, step->number);
    case FETCH_KEY: return key_fetch(registers[step->a], step->number);
    case FETCH_CLASS_ATTR: return raw_attribute_fetch(registers[step->a], step->object);
    case FETCH_INNER: return inner_fetch(registers[step->a], step->number);
    default: /* FETCH_TYPE */
        type = (PyObject *)Py_TYPE(registers[step->a]);
        Py_INCREF(type);
        return type;
    }
}

static inline int
global_is_absent(const Roots *roots, PyObject *name)
{
    PyObject *value; /* owned */
    int found = global_find(roots, name, &value);
    Py_XDECREF(value);
    return found == 0;
}

static inline int
cell_is_empty(const Roots *roots, Py_ssize_t index)
{
    PyObject *cell = root_get(roots, index); /* borrowed */
    return cell != NULL && PyCell_Check(cell) && PyCell_GET(cell) == NULL;
}

/* The referent of a step's weak reference, borrowed; None once it is dead; the dying object itself while it is
 * destroyed. A live object is the referent exactly if it is identical and not None. */
static inline PyObject *
step_referent(const Step *step)
{
    return ((PyWeakReference *)step->object)->wr_object;
}

/* The number of references to an object, without those of the roots and of the `count` owned registers. */
static inline Py_ssize_t
references_elsewhere(PyObject *object, const Roots *roots, PyObject *const *owned, Py_ssize_t count)
{
    Py_ssize_t found = Py_REFCNT(object);
    for (Py_ssize_t i = 0; i < roots->nvalues; i++) {
        found -= roots->values[i] == object;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        found -= owned[i] == object;
    }
    return found;
}

/* Whether a condition holds; `nowned` owned registers are filled. */
static inline int
step_holds(const ProgramObject *self, const Step *step, const Roots *roots, PyObject *const *registers, Py_ssize_t nowned)
{
    PyObject *const *a = registers + step->a;
    switch (step->operation) {
    case CHECK_TYPE: return Py_TYPE(*a) == (PyTypeObject *)step->object;
    case CHECK_WEAK_TYPE: return Py_TYPE(*a) == (PyTypeObject *)step_referent(step);
    case CHECK_ARRAY: return array_matches(*a, step->object, (int)step->number, step->mask, step->flags);
    case CHECK_IDENTICAL: return *a == step->object;
    case CHECK_WEAK_IDENTICAL: return *a == step_referent(step) && *a != Py_None;
    case CHECK_EQUAL: return constant_matches(step->object, *a);
    case CHECK_INT64: return int_fits_64(*a);
    case CHECK_LENGTH: return length_matches(*a, step->number);
    case CHECK_OWN_COUNT: return own_count(*a) == step->number;
    case CHECK_REFERENCES: return references_elsewhere(*a, roots, registers + self->nborrowed, nowned) == step->number;
    case CHECK_CODE: return function_has_code(*a, step_referent(step));
    case CHECK_LOCAL_UNBOUND: return step->number < roots->nvalues && roots->values[step->number] == NULL;
    case CHECK_CELL_EMPTY: return cell_is_empty(roots, step->number);
    case CHECK_GLOBAL_ABSENT: return global_is_absent(roots, step->object);
    case CHECK_ATTR_ABSENT: return attribute_is_absent(*a, step->object);
    case CHECK_ITEM_ABSENT: return item_is_absent(*a, step->object, step->number);
    case CHECK_APART: return arrays_are_apart(*a, registers[step->b]);
    case CHECK_SHAPES: return shapes_match(*a, registers[step->b]);
    case CHECK_AXIS: return axis_obeys(*a, step->number, step->object);
    case CHECK_SAME_AXIS: return axes_match(*a, step->number, registers[step->b], step->mask);
    case CHECK_UNIT_AXES: return unit_axes_are(*a, step->number);
    case CHECK_SAME: return *a == registers[step->b];
    default: /* CHECK_DISTINCT */ return *a != registers[step->b];
    }
}

/* The step that failed, or NULL if all passed. *end is the index after the last owned register that is filled. */
static inline const Step *
program_walk(const ProgramObject *self, const Roots *roots, PyObject **registers, Py_ssize_t *end)
{
    const Step *step = self->steps, *last = self->steps + self->nsteps;
    for (; step < last; step++) {
        PyObject *value; /* owned, except from FETCH_LOCAL and FETCH_CONSTANT */
        if (step->operation > LAST_FETCH) {
            if (!step_holds(self, step, roots, registers, *end - self->nborrowed)) {
                return step;
            }
            continue;
        }
        if (step->operation == FETCH_LOCAL) {
            value = root_get(roots, step->number);
        }
        else if (step->operation == FETCH_CONSTANT) {
            value = step->object;
        }
        else {
            value = step_fetch(step, roots, registers);
            *end += value != NULL;
        }
        if (value == NULL) {
            return step;
        }
        registers[step->out] = value;
    }
    return NULL;
}

int
program_evaluate(ProgramObject *self, const Roots *roots, PyObject **fetched)
{
    if (self->retired) {
        self->misses++;
        self->last_failed = -1;
        return 0;
    }
    PyObject *on_stack[REGISTERS_ON_STACK];
    PyObject **registers = on_stack; /* items below nborrowed borrowed, the rest owned */
    if (self->nregisters > REGISTERS_ON_STACK) {
        registers = PyMem_Malloc((size_t)self->nregisters * sizeof(PyObject *));
        if (registers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    Py_ssize_t end = self->nborrowed;
    const Step *failed = program_walk(self, roots, registers, &end);
    int passed = failed == NULL;
    if (passed) {
        self->hits++;
        for (Py_ssize_t i = 0; fetched != NULL && i < self->nresults; i++) {
            fetched[i] = registers[self->results[i]];
            Py_INCREF(fetched[i]);
        }
    }
    else {
        self->misses++;
        self->last_failed = failed->guard;
        if (failed->guard >= 0) {
            self->failures[failed->guard]++;
        }
    }
    for (Py_ssize_t i = self->nborrowed; i < end; i++) {
        Py_DECREF(registers[i]);
    }
    if (registers != on_stack) {
        PyMem_Free(registers);
    }
    return mirror_enabled ? mirror_compare(self, roots, passed ? PASSED : failed->guard, fetched) : passed;
}
