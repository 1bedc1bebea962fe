/* Tables of input and output codes, and lookup of a code tuple in them. */
#ifndef PIJIT_LAUNCHER_CODES_CODE_TABLES_H
#define PIJIT_LAUNCHER_CODES_CODE_TABLES_H

#include "launcher/abi.h"

typedef struct {
    const char *name;
    int kind;
    Py_ssize_t length; /* the length of the code tuple */
    Py_ssize_t words;  /* the number of words that an output reads; may be 0 */
} CodeRow;

extern const CodeRow input_rows[];
extern const CodeRow output_rows[];

/* The row for the name in a code tuple, whose length is checked; NULL with ValueError set. */
const CodeRow *code_row(const CodeRow *rows, PyObject *code);

/* The item of a code tuple as an integer in [low, high); -1 with an exception set. */
Py_ssize_t code_integer(PyObject *code, Py_ssize_t index, Py_ssize_t low, Py_ssize_t high);

#endif
