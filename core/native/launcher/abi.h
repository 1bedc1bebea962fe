/* The interface between generated kernels, launcher.c and table.c: frame words, exit ids and the runtime table.
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
 *   copy, overlap, same).
 *
 * The runtime table: entry k is called as the C function below; all arguments and results are int64_t,
 * pointers are passed as int64_t. Those marked (*) return 0, or LAUNCHER_ERROR with an exception set. The
 * GIL is held, unless the launcher was made with `nogil`.
 *
 *   alloc(frame, desc, typenum, ndim, order) (*)
 *       New array of the shape already in desc; order 0 is C, 1 is Fortran. Writes data, object and strides.
 *       Owned by the frame: released when the launcher returns, unless released before.
 *       With PRIVATE (buffer_pool.h) in the type number, the array may use memory of the buffer pool.
 *   alloc_like(frame, desc, typenum, ndim, nops, ops) (*)
 *       As alloc, with the strides that a NumPy ufunc gives the output it allocates for these operands.
 *       ops -> [ndim_i, address of desc_i, itemsize_i] * nops: the operands as NumPy sees them (a scalar has
 *       ndim 0). itemsize_i is 0 if the ufunc casts that operand to another dtype. The bits above its low byte tell
 *       whether an operator may compute into the operand and whether its memory may be reused (elision.h). At most 16
 *       operands. Returns 1 if it is not known whether an operator computes into an operand.
 *   layout_like(desc, ndim, itemsize, nops, ops) -> 0 or 1
 *       Only writes those strides to desc, for an intermediate result that is never allocated.
 *   own(frame, object) -> object
 *       The array, or a copy of one that uses memory of the buffer pool; it may leave the kernel. 0 with an exception
 *       set.
 *   copied(frame, desc, ndim, typenum) (*)
 *       A new array with the elements of a contiguous one that has no object; writes the object, which may leave the
 *       kernel.
 *   view(frame, desc, ndim, typenum, base) (*)
 *       A NumPy view for the data, shape and strides in desc; writes the object. `base` is the array it is a
 *       view of: .base is what NumPy would set, writeable is inherited, a dtype of the same number is shared.
 *   retain(frame, object) (*)
 *       The frame takes one more reference to object.
 *   release(frame, object) -> 0
 *       The frame drops its last taken reference to object, if it has one. A dead array may be kept in a free list, for
 *       alloc and alloc_like (free_lists.h).
 *   flags_clear() -> 0
 *       Clears the floating-point exception flags.
 *   flags_test(mask) -> flags
 *       The raised flags of the mask that np.errstate does not ignore now: 1 divide by zero, 2 overflow, 4 underflow,
 *       8 invalid, as NumPy numbers them. np.errstate is read only if a flag is raised. Flags that are also in the
 *       mask four bits further up are never ignored.
 *   own_flags_clear() -> 0
 *   own_flags_test(mask) -> flags
 *       The same for the kernel's own arithmetic: faster, but does not see flags that inner loops of ufuncs raise.
 *   ufunc(frame, spec, shape, ndim) (*)
 *       Runs a ufunc inner loop over `shape` -> ndim words. spec -> [function, data, nin, nout, flags,
 *       (ndim_k, address of desc_k, itemsize_k) * (nin + nout)]. Operands have the loop's dtypes and broadcast to
 *       shape; itemsize is negative where NumPy converts the operand. Flags: 1 the outputs were made by
 *       alloc_like for these inputs, otherwise they came with out=; 2 bits do not depend on strides, and outputs
 *       overlap no input, except that one may have the memory and strides of an input. Without 2 the inner loop
 *       is called as NumPy calls it. From 256 on: the least work (parallel) for which threads share the loop.
 *       At most 16 operands. An exception that the loop sets is reported.
 *   reduce(frame, spec) (*)
 *       A ufunc's reduction. It has NumPy's bits for any layout if the module's reduce_supported(...) is true.
 *       spec -> [function, data, typenum, ndim, address of desc, axis, has identity, identity word,
 *       address of the out desc, the least work (parallel) for which threads share it, is numpy.add]. axis is -1 for
 *       all axes, else not negative. Loop, operand and result have the dtype `typenum`. out has its data and shape set
 *       (and its strides), ndim 0 for all axes, else ndim - 1, and shares no memory with the operand. Without identity
 *       (minimum, maximum) an empty operand is a ValueError.
 *   copy(frame, dst, dst_ndim, typenum, src, src_ndim) (*)
 *       dst[...] = src for one dtype: broadcasts, and works for any overlap as NumPy's assignment does.
 *   copy_apart(dst, src, ndim, itemsize, least) -> 0
 *       dst[...] = src for arrays of one dtype and shape that share no memory; threads share work of at least `least`.
 *   copy_around(dst, src, inner, ndim, itemsize) -> 0
 *       The same, except for the elements of `inner`, a part of dst with its strides; dst is in C order.
 *   overlap(a, a_ndim, a_itemsize, b, b_ndim, b_itemsize) -> 0 or 1
 *       Whether the memory extents of two arrays share a byte; empty arrays share none.
 *   same(a, b, ndim) -> 0 or 1
 *       Whether two arrays have the same data address, shape and strides.
 *   store_scalar(address, typenum, word) -> 0
 *       Writes a frame word to array memory; a complex number is stored as its two halves.
 *   load_scalar(address, typenum) -> word
 *       The reverse.
 *
 *   new_tuple(frame, count, spec), new_list(frame, count, spec), new_dict(frame, count, spec),
 *   new_set(frame, count, spec), new_slice(frame, 3, spec), bound_method(frame, 2, spec), new_cell(frame, 1, spec),
 *   new_function(frame, count, spec), new_object(frame, count, spec), box(frame, 1, spec),
 *   new_instance(frame, count, spec),
 *   changed_instance(frame, count, spec) (*)
 *       A new object of that kind, for box a number as an object. The frame owns it; its address replaces the first
 *       word of spec -> [kind, word, word] of each value, for a dict of each key and value in turn. Kinds are those of
 *       effects, below.
 *       An instance is the object at the address in its first value, or if that is 0 a new one of the class in the
 *       second. Then follow the tuple of its attribute names, and their values. changed_instance sets the attributes of
 *       an existing object, too.
 *       The values of a function are its code, globals, qualified name, defaults, keyword defaults and annotations,
 *       each None if it has none, and then its cells. Those of an object are its callable, a tuple of names, and the
 *       arguments.
 *
 *   list_item(frame, list, index, wanted, out) -> 0, or 1 if the item does not exist or is not as wanted
 *       An item of a list, as `item` below.
 *   listed(spec)
 *       Stores the items of a list, or of the lists or tuples in it, into an array; spec is a Listed of from_lists.h.
 *       Returns 1 if an item is not of the expected class.
 *   tuple_of(frame, list, address) (*)
 *       A new tuple of a list's items, owned by the frame; its address is stored in the word at `address`.
 *
 *   invoke(frame, function, keywords, count, spec, wanted, strict, out)
 *       Calls a Python object with the values of spec (as new_tuple), the last ones under the names in the tuple
 *       `keywords` (or 0). The result must be as wanted -> [kind, typenum, ndim, mask, flags] says. Kind -5 is an exact
 *       array in native byte order with these of NumPy's flags; its descriptor goes to `out`. Kind -4 is an object
 *       whose class is at the address `typenum`. Other kinds are those of effects; the number's word goes to `out`.
 *       Arrays and objects are owned by the frame. `strict`: floating-point errors are raised, not reported. Returns 0;
 *       or 1, without an exception set, if the call has raised or its result is of another kind; or LAUNCHER_ERROR for
 *       an exception that ends the kernel.
 *   item(frame, tuple, index, wanted, out)
 *       The same for an item of a tuple.
 *
 *   gufunc(function, data, pointers, dims, steps, work, fatal) -> 0, 1 or LAUNCHER_ERROR
 *       Runs a generalised ufunc's inner loop, which takes about `work` multiplications. `fatal`: returns 1 if it has
 *       set the flag for an invalid operation.
 *   matmul(function, data, pointers, dims, steps, work, size, mask) -> 0, LAUNCHER_ERROR or flags
 *       The same for products of floats of `size` bytes, which need not be computed by the loop; reports errors
 *       (flags_test).
 *   product(frame, left, right, wanted, strict, out)
 *       np.dot of two arrays; `wanted`, `strict`, the result and the return value are as for invoke.
 *   scatter(spec), add_at(spec, floating) -> 0, or 1 if nothing was done
 *       Stores elements at indices, or adds to them.
 *       spec -> [data, stride, size, itemsize, indices, count, values, step].
 *   rows(out, data, size, bytes, indices, count) -> 0, or 1 if an index is out of range
 *       Copies rows of an array in C order.
 *   mask_count(mask, size), mask_pick(out, data, mask, size, itemsize, count),
 *   mask_put(data, mask, size, itemsize, count, values, step)
 *       Counts the elements of a mask that are set; copies the elements there from an array, or into it.
 *
 *   Effects on Python objects (stores.h). `value` is the address of the value's words. `kind` tells the object to make
 *   of them: a dtype number for that NumPy scalar, -1 int, -2 float, -3 bool, -4 the object itself, -10 complex. All
 *   return 0 if the effect took place. Otherwise nothing was done: LAUNCHER_ERROR with an exception set, or 1 if user
 *   code would run. Then the kernel leaves by the operation's side exit.
 *
 *   append(list, kind, value)
 *       Appends to an exact list.
 *   store_item(list, index, kind, value), store_key(dict, key, kind, value)
 *       Stores into an exact list, or into an exact dict under a str or int.
 *   store_attr(object, name, kind, value)
 *       Stores into an instance dict or slot.
 *   store_global(name, kind, value), store_cell(cell, kind, value)
 *       Stores into the globals of the frame that runs the linked code, or into a cell.
 *   delete_attr(object, name), delete_global(name), delete_cell(cell)
 *   store_slice(list, slice, items), delete_slice(list, slice)
 *       Returns 1 also if Python would raise.
 *   delete_item(list, index), insert(list, index, kind, value), extend(list, items), reverse(list), clear_list(list),
 *   delete_key(dict, key), discard_key(dict, key), update(dict, more), clear_dict(dict), set_add(set, kind, value),
 *   set_discard(set, kind, value), set_remove(set, kind, value), clear_set(set), list_take(list, index),
 *   sort(list, backwards)
 *       The effects of the methods; `items` is a list or tuple.
 *   find_item(list or tuple, kind, value, out), count_items(list or tuple, kind, value, out)
 *       Stores the first index of a value, -1 if it is absent, or how often it occurs; 1 if an item is neither a number
 *       nor a string.
 *
 *   Reads of containers (containers.h), which return as effects do. `spec` -> [kind, dtype number, ndim, mask, flags]
 *   tells the object that must be found: kind as for values, -5 an array whose masked flags are these, -6 a list, -7 a
 *   tuple, -8 a dict, -9 a string, -11 any object, -12 any object, which the frame then owns. The words of the object
 *   replace spec: of an array a descriptor, of other objects the pointer. Arrays and strings are owned by the frame,
 *   the others are borrowed.
 *
 *   load_item(frame, list or tuple, index, spec), load_key(frame, dict, key, spec)
 *   get_key(frame, dict, key, kind, value, spec), setdefault(frame, dict, key, kind, value, spec)
 *   pop_item(frame, list, index, spec), pop_key(frame, dict, key, spec)
 *   pop_default(frame, dict, key, kind, value, spec)
 *   has_key(dict or set, key, spec)
 *       Stores 0 or 1 in the first word of spec.
 *   load_int(frame, dict, number, spec), get_int(frame, dict, number, kind, value, spec),
 *   store_int(dict, number, kind, value)
 *       As load_key, get_key and store_key; the key is the int of a word.
 *   load_attr(frame, object, name, spec)
 *       The attribute of an object of any class, if reading it runs no code.
 *   entry_key(frame, dict, behind, spec), entry_value(frame, dict, behind, spec)
 *       The entry before the position `behind`, which next_entry has returned.
 *   heap_push(list, kind, value), heap_drop(list)
 *   draw(generator, method, words)
 *       A random number. The words are the arguments of the method; the result replaces the first word (random.h).
 *   deque_item(frame, deque, index, spec)
 *   deque_take(deque, index), deque_drop(deque, index), deque_append(deque, kind, value), deque_appendleft(deque, kind,
 *   value)
 *       As effects; the index is 0 or -1.
 *   hold(frame, object)
 *       The frame takes a reference to the object. Returns 1 if it is a list with an item whose destructor may run user
 *       code.
 *   plain_items(list or dict)
 *       Returns 0 if NumPy makes an array of the items, or of the keys, without running user code; else 1.
 *   next_entry(dict, position) -> the position after the next entry, 0 after the last one
 *   taken_entry(dict or set) -> the position after the entry that popitem or pop removes, 0 if there is none
 *   take_entry(dict or set)
 *       Removes it; returns 1 if the dict is a namespace, whose entries are globals.
 *   length(container) -> its length
 *
 *   Strings and bytes (strings.h).
 *
 *   char_code(str, index) -> the code point at an index, which must be in range
 *   char_at(frame, str, index, out)
 *       Stores the one-character string at an index, which must be in range; the frame owns it.
 *   byte_at(bytes or bytearray, index) -> the item, -1 if the index is out of range
 *   store_byte(bytearray, index, value)
 *       Returns as effects do.
 *   same_text(str, str) -> 1 if they are equal, else 0
 *   text_add(frame, str, str, out), text_append(frame, str, str, out)
 *       Stores the sum, which the frame owns; for text_append the frame gives up the first string.
 *   has_text(str, part, out)
 *       Stores 0 or 1; returns as effects do.
 *   parallel(body, arguments, count, align, work, least) -> 0
 *       Runs a loop on several threads, as pool_run (thread_pool.h).
 *
 *   asked(signals) -> 0 or 1
 *       Whether this thread must leave its kernel: for a pending signal if `signals`, else for any request to the
 *       interpreter (eval_breaker.h).
 *   clear_exception() -> 0
 *       Clears the exception that a function of the table has set. */
#ifndef PIJIT_LAUNCHER_H
#define PIJIT_LAUNCHER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "cpython/eval_breaker/eval_breaker.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL pijit_launcher_array_api
#ifndef LAUNCHER_MAIN
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#define LAUNCHER_MISS (-1)
#define LAUNCHER_ERROR (-2)

#define CAUSE_SHIFT 48 /* results from 0 on: the exit id | number of the cause (0: none) << CAUSE_SHIFT */

typedef int64_t (*KernelFunction)(int64_t *frame);

/* Offsets in a descriptor. */
enum { DESC_DATA = 0, DESC_OBJECT = 1, DESC_SHAPE = 2 };

/* The references that one launcher call holds for its kernel. It is on the C stack of the call. */
#define OWNED_INLINE 16
#define OWNED_KEPT 8
/* A dead array that is kept for reuse (free_lists.h). */
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
    int kept_next; /* the index to replace when `kept` is full */
#if BREAKER_PER_THREAD
    uintptr_t *breaker; /* the word that the kernel polls (eval_breaker.h) */
#endif
} OwnedList;

/* The functions that kernels call; the module's RUNTIME has their names. Kernels without the GIL have a table of
 * their own. Its functions take the GIL if they need it, or fail (nogil.h). */
extern void *const runtime_table[];
extern void *runtime_table_nogil[];

/* Adds RUNTIME and the helpers of table.c to the module; 0, or -1 with an exception set. */
int runtime_register(PyObject *module);

static inline void
owned_init(OwnedList *owned)
{
    owned->count = 0;
    owned->capacity = OWNED_INLINE;
    owned->items = owned->inline_items;
    for (int place = 0; place < OWNED_KEPT; place++) {
        owned->kept[place].array = NULL;
    }
    owned->kept_next = 0;
}

/* Takes over the caller's reference, also on failure; 0, or -1 with MemoryError set. */
int owned_push(OwnedList *owned, PyObject *object);

void owned_clear(OwnedList *owned);

/* The item size of a dtype whose scalars fit frame words (complex: of one half), 0 for any other dtype. */
int scalar_size(int typenum);
int scalar_is_complex(int typenum);

int64_t scalar_load(const void *source, int typenum);
void scalar_store(void *target, int typenum, int64_t word);

/* The word of a NumPy scalar of such a dtype, or the two words of a complex one. */
void scalar_words(PyObject *scalar, int typenum, int64_t *words);

/* All scalar types that fit frame words store their value directly after the object header. */
#define SCALAR_VALUE(object) ((char *)(object) + sizeof(PyObject))

/* The NumPy scalar of a type for frame words: a new reference, NULL with MemoryError set. */
PyObject *scalar_box(PyTypeObject *type, int typenum, const int64_t *words);

#endif
