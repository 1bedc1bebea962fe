/* The tables of the interface between kernels and the launcher, for Python. core/_launcher.pyi describes them. */
#include "launcher/abi_tables.h"
#include "launcher/abi.h"
#include "launcher/codes/code_tables.h"
#include "module_inl.h"

/* NEW reference to a dict of the numbers by name; NULL with an exception set. */
static PyObject *
numbers_new(void)
{
    static const struct {
        const char *name;
        long value;
    } numbers[] = {
#define NUMBER(name, value) {#name, value},
#include "launcher/abi_numbers.inc"
    };
    PyObject *result = PyDict_New(); /* owned, given away */
    for (size_t i = 0; result != NULL && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        PyObject *value = PyLong_FromLong(numbers[i].value); /* owned */
        if (value == NULL || PyDict_SetItemString(result, numbers[i].name, value) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(value);
    }
    return result;
}

/* NEW reference to a dict {name: (length of the code tuple, number of words)} of codes; NULL with an exception set. */
static PyObject *
codes_new(const CodeRow *rows)
{
    PyObject *result = PyDict_New(); /* owned, given away */
    for (const CodeRow *row = rows; result != NULL && row->name != NULL; row++) {
        PyObject *value = Py_BuildValue("(nn)", row->length, row->words); /* owned */
        if (value == NULL || PyDict_SetItemString(result, row->name, value) < 0) {
            Py_CLEAR(result);
        }
        Py_XDECREF(value);
    }
    return result;
}

int
abi_tables_register(PyObject *module)
{
    return module_give(module, "ABI_NUMBERS", numbers_new()) < 0
                   || module_give(module, "INPUT_CODES", codes_new(input_rows)) < 0
                   || module_give(module, "OUTPUT_CODES", codes_new(output_rows)) < 0
               ? -1
               : 0;
}
