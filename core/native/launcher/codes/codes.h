/* Input and output codes of a launcher, as flat structs. */
#ifndef PIJIT_LAUNCHER_CODES_CODES_H
#define PIJIT_LAUNCHER_CODES_CODES_H

#include "launcher/abi.h"

typedef enum {
    IN_SKIP,
    IN_ARRAY,
    IN_INT,
    IN_FLOAT,
    IN_BOOL,
    IN_COMPLEX,
    IN_SCALAR,
    IN_OBJECT,
    /* Iterated arrays, and iterators. */
    IN_TYPED_ARRAY,
    IN_RANGE_ITERATOR,
    IN_SEQUENCE_ITERATOR,
    IN_REVERSED_ITERATOR,
    IN_ENUMERATE,
    IN_ZIP,
    IN_LIST_ITERATOR,
    IN_TEXT_ITERATOR,
    IN_BYTES_ITERATOR,
    IN_DICT_KEYS,
    IN_DICT_VALUES,
    IN_DICT_ITEMS,
    IN_SET_ITERATOR
} InputKind;

typedef struct Input {
    InputKind kind;
    int ndim;
    int typenum;
    int mask, flags;     /* IN_TYPED_ARRAY: the masked flags of the array must be `flags` */
    PyTypeObject *type;  /* borrowed: static types of NumPy's scalars and of Python's iterators */
    Py_ssize_t words;    /* the number of frame words */
    Py_ssize_t count;    /* iterators: the number of objects that they iterate */
    struct Input *items; /* iterators: owned; the codes of these objects */
} Input;

typedef enum {
    /* Do not depend on the kernel. */
    OUT_FETCHED,
    OUT_CONST,
    OUT_AGAIN,
    /* Made from other outputs. */
    OUT_TUPLE,
    OUT_ZIP,
    OUT_MAP,
    OUT_FILTER,
    OUT_CALLED,
    OUT_FUNCTION,
    OUT_INSTANCE,
    OUT_KEPT_INSTANCE,
    OUT_CHANGED_INSTANCE,
    OUT_GENERATOR,
    OUT_SEQUENCE_ITERATOR,
    OUT_LIST_ITERATOR,
    OUT_REVERSED_ITERATOR,
    OUT_ENUMERATE,
    OUT_DICT_KEYS,
    OUT_DICT_VALUES,
    OUT_DICT_ITEMS,
    OUT_SET_ITERATOR,
    OUT_STEPPED,
    OUT_STEPPED_REVERSED,
    OUT_STEPPED_VALUES,
    OUT_STEPPED_ITEMS,
    /* Kernel values. */
    OUT_INT,
    OUT_FLOAT,
    OUT_BOOL,
    OUT_COMPLEX,
    OUT_SCALAR,
    OUT_OBJECT,
    OUT_RANGE,
    OUT_RANGE_ITERATOR,
    OUT_ADVANCE
} OutputKind;

typedef struct Output {
    OutputKind kind;
    int typenum;          /* OUT_SCALAR */
    Py_ssize_t word;      /* the first frame word */
    Py_ssize_t input;     /* OUT_FETCHED, OUT_ADVANCE; OUT_AGAIN: the index among the exit's instances */
    PyObject *object;     /* owned: the constant, the scalar's type, OUT_GENERATOR's plan, an instance's names */
    const Input *moved;   /* OUT_ADVANCE: borrowed from the launcher */
    Py_ssize_t steps;     /* OUT_STEPPED and its variants; OUT_ADVANCE: the number of words that change */
    Py_ssize_t count;     /* the number of outputs that it is made from */
    struct Output *items; /* owned; these outputs */
} Output;

/* One exit: its outputs, and the number of times that it was taken. */
typedef struct {
    Py_ssize_t count;
    Output *items; /* owned */
    PyObject *id;  /* owned: the first item of the answer */
    long long taken;
    int poll;              /* the kernel left because the interpreter has a request */
    int returns;           /* bytecode would return the last value next */
    int bare;              /* the answer may be the only value itself */
    PyObject *held;        /* owned, or NULL: used in place of id if the interpreter has a request by now */
    Py_ssize_t iterations; /* the index of the value that counts loop iterations, or -1 */
} Exit;

Py_ssize_t input_words(const Input *input);

/* The number of words of an iterator that change when it steps. */
Py_ssize_t moving_words(const Input *input);

#endif
