/* Temporary elision: NumPy's operators compute into a large temporary operand.
 *
 * The result then has the operand's strides. An operator does that to an array of ELIDED_BYTES or more that nothing
 * else refers to. The other operand must be a number or have the same shape. */
#include "runtime/arrays/elision.h"
#include "launcher/abi.h"
#include "runtime/iteration/iteration_order.h"
#include <string.h>

#if PY_VERSION_HEX >= 0x030E0000
#error "the references to an operand: nobody has looked at this version of CPython"
#endif

/* Reference count of an input that is a temporary on the operand stack. The references are a variable of linked code,
 * the argument of the call, and the launcher, which holds objects that its guards fetched. */
#define INPUT_REFERENCES 3

static int
operand_into(const Operand *operand)
{
    PyArrayObject *array = (PyArrayObject *)operand->desc[DESC_OBJECT];
    int into = operand->into & (INTO_FREE - 1);
    if (into < INTO_ASK_FOUND) {
        return into;
    }
    if (!PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE)) {
        return INTO_NEVER;
    }
    if (into == INTO_ASK_INPUT) {
        return Py_REFCNT(array) == INPUT_REFERENCES ? INTO_ALWAYS : INTO_NEVER;
    }
    return Py_REFCNT(array) == 1 ? INTO_ALWAYS : INTO_UNKNOWN; /* its container may be about to end */
}

int
operands_may_be_elided(const Operand *operands, int nops)
{
    int may = 0;
    for (int op = 0; op < nops; op++) {
        may |= operands[op].into;
    }
    return may != 0;
}

int
strides_elided(int64_t *desc, int ndim, npy_intp itemsize, const Operand *operands, int nops, int *taken)
{
    int64_t *strides = desc + DESC_SHAPE + ndim;
    size_t words = ndim * sizeof(int64_t);
    npy_intp bytes = itemsize;
    int unknown[NEST_MAXOPS], count = 0;
    *taken = -1;
    for (int axis = 0; axis < ndim; axis++) {
        bytes *= desc[DESC_SHAPE + axis];
    }
    for (int op = 0; op < nops; op++) {
        const Operand *operand = &operands[op];
        if (operand->ndim != 0
            && (operand->ndim != ndim || memcmp(operand->desc + DESC_SHAPE, desc + DESC_SHAPE, words) != 0)) {
            return 0;
        }
    }
    for (int op = 0; op < nops && bytes >= ELIDED_BYTES; op++) {
        int into = operands[op].ndim == 0 ? INTO_NEVER : operand_into(&operands[op]);
        if (into == INTO_LEAVES) {
            return 1;
        }
        if (into == INTO_UNKNOWN) {
            unknown[count++] = op;
        }
        if (into == INTO_ALWAYS) {
            memcpy(strides, operands[op].desc + DESC_SHAPE + ndim, words);
            *taken = count == 0 ? op : -1;
            break;
        }
    }
    while (count > 0) {
        if (memcmp(strides, operands[unknown[--count]].desc + DESC_SHAPE + ndim, words) != 0) {
            return 1;
        }
    }
    return 0;
}

const Operand *
operand_to_reuse(const int64_t *desc, int ndim, const Operand *operands, int nops, int taken)
{
    for (int op = 0; op < nops; op++) {
        if (operands[op].into & INTO_FREE && (op == taken || !(operands[op].into & INTO_AS_NUMPY)) && operands[op].ndim == ndim
            && operands[op].desc[DESC_OBJECT] != 0
            && memcmp(operands[op].desc + DESC_SHAPE, desc + DESC_SHAPE, 2 * ndim * sizeof(int64_t)) == 0) {
            return &operands[op];
        }
    }
    return NULL;
}
