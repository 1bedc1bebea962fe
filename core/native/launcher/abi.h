/* The interface between generated kernels, the launcher and the runtime: frame words, exit ids and owned references.
 * runtime/entries.inc lists the functions that kernels call, abi_numbers.inc the numbers that kernels contain.
 *
 * A kernel is `int64_t kernel(int64_t *frame)`. frame[0] is the address of the runtime table, frame[1] the
 * address of this call's OwnedList; inputs follow from word 2. The kernel returns
 *     >= 0                  the exit id; the bits from CAUSE_SHIFT on are the number of the cause,
 *     LAUNCHER_MISS (-1)    nothing was changed, run the original bytecode (the launcher answers MISS),
 *     LAUNCHER_ERROR (-2)   a Python exception is set.
 *
 * Words
 *   A frame word holds an integer (sign- or zero-extended to 64 bits), a bool (0 or 1), a float as the bits
 *   of a double (float32 widened), or a pointer. A complex number takes two words. In array memory a value
 *   has its dtype's own size: store_scalar and load_scalar convert.
 *   A *descriptor* (desc) of an array of n dimensions is 2 + 2 * n words: data address, PyObject *, shape,
 *   strides in bytes, n at most 32. The object word may be 0 if a function only uses the memory (ufunc, reduce,
 *   copy, overlap, same). */
#ifndef PIJIT_LAUNCHER_H
#define PIJIT_LAUNCHER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "cpython/eval_breaker/eval_breaker.h"
#include "numpy_api.h"
#include "runtime/scalars_inl.h"

#define LAUNCHER_MISS (-1)
#define LAUNCHER_ERROR (-2)

enum {
#define NUMBER(name, value) name = value,
#include "launcher/abi_numbers.inc"
};

typedef int64_t (*KernelCode)(int64_t *frame);

/* Offsets in a descriptor. */
enum { DESC_DATA = 0, DESC_OBJECT = 1, DESC_SHAPE = 2 };

/* The references that one launcher call holds for its kernel. It is on the C stack of the call. */
#define OWNED_INLINE 16
#define OWNED_KEPT 8
/* A dead array that is kept for reuse (free_lists_inl.h). */
typedef struct {
    PyObject *array; /* owned, or NULL; the other fields describe it */
    size_t bytes;
    int typenum, ndim, on_block;
} KeptArray;

typedef struct {
    Py_ssize_t count;
    Py_ssize_t capacity;
    PyObject **items; /* `inline_items`, or heap memory */
    PyObject *inline_items[OWNED_INLINE];
    KeptArray kept[OWNED_KEPT];
    int kept_end;  /* the items of `kept` from here on are not set */
    int kept_next; /* the index to replace when `kept` is full */
#if BREAKER_PER_THREAD
    uintptr_t *breaker; /* the word that the kernel polls (eval_breaker.h) */
#endif
} OwnedList;

/* The functions that kernels call; runtime/entries.inc lists them. Kernels without the GIL have a table of their
 * own. Its functions take the GIL if they need it, or fail (nogil.c). */
extern void *const runtime_table[];
extern void *const runtime_table_nogil[];

/* Adds RUNTIME_TABLE, RUNTIME_ENTRIES and the helpers of the runtime to the module; 0, or -1 with an exception set. */
int runtime_register(PyObject *module);

/* Takes over the caller's reference, also on failure; 0, or -1 with MemoryError set. */
int owned_push(OwnedList *owned, PyObject *object);

void owned_clear(OwnedList *owned);

void scalar_store(void *target, int typenum, int64_t word);

/* The word of a NumPy scalar of such a dtype, or the two words of a complex one. */
void scalar_words(PyObject *scalar, int typenum, int64_t *words);

/* All scalar types that fit frame words store their value directly after the object header. */
#define SCALAR_VALUE(object) ((char *)(object) + sizeof(PyObject))

/* The NumPy scalar of a type for frame words: a new reference, NULL with MemoryError set. */
PyObject *scalar_box(PyTypeObject *type, int typenum, const int64_t *words);

#endif
