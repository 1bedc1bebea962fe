/* Shapes: the variables of code objects.
 *
 * From 3.11 on CPython keeps all variables in one numbering, and its public functions make new tuples of names. So a
 * shape is read once per code object. */
#include "hidden/code_variables.h"
#include "function/dispatch.h"
#include "function/marks/code_extra.h"
#include "function/marks/code_marks.h"
#include "hidden/code_variables_inl.h"
#include "hidden/hidden.h"

/* The index of the argument that lives in the cell `name`; -1: none. */
static Py_ssize_t
cell_argument(PyCodeObject *code, PyObject *varnames, PyObject *name)
{
    Py_ssize_t count = code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS)
                       + !!(code->co_flags & CO_VARKEYWORDS);
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *argument = PyTuple_GET_ITEM(varnames, i); /* borrowed */
        if (argument == name || PyUnicode_Compare(argument, name) == 0) {
            return i;
        }
    }
    return -1;
}

void
shape_clear(Shape *shape)
{
    Py_CLEAR(shape->varnames);
    Py_CLEAR(shape->cellvars);
    Py_CLEAR(shape->freevars);
    Py_CLEAR(shape->keywords);
    PyMem_Free(shape->arguments);
    PyMem_Free(shape->nones);
    shape->arguments = NULL;
    shape->nones = NULL;
}

int
shape_fill(Shape *shape, PyCodeObject *code)
{
    Shape made = {PyCode_GetVarnames(code), PyCode_GetCellvars(code), PyCode_GetFreevars(code)};
    if (made.varnames == NULL || made.cellvars == NULL || made.freevars == NULL) {
        shape_clear(&made);
        return -1;
    }
    made.nlocals = PyTuple_GET_SIZE(made.varnames);
    made.ncells = PyTuple_GET_SIZE(made.cellvars);
    made.nfree = PyTuple_GET_SIZE(made.freevars);
    made.nslots = made.nlocals + made.ncells + made.nfree;
    made.arguments = PyMem_New(Py_ssize_t, made.ncells + 1);
    Py_ssize_t narguments = code->co_argcount + code->co_kwonlyargcount;
    made.nones = PyMem_New(PyObject *, narguments + 1);
    made.keywords = PyTuple_GetSlice(made.varnames, code->co_argcount, narguments);
    if (made.arguments == NULL || made.nones == NULL || made.keywords == NULL) {
        shape_clear(&made);
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < made.ncells; i++) {
        made.arguments[i] = cell_argument(code, made.varnames, PyTuple_GET_ITEM(made.cellvars, i));
    }
    for (Py_ssize_t i = 0; i < narguments; i++) {
        made.nones[i] = Py_None;
    }
    *shape = made;
    return 0;
}

const Shape *
shape_of(PyCodeObject *code)
{
    CodeExtra *extra = code_extra_ensure(code);
    return extra != NULL ? shape_in(extra, code) : NULL;
}

/* The reason why linked code cannot run in place of a code object, or NULL if it can. */
const char *
code_why_not_linked(PyCodeObject *code, PyCodeObject *linked)
{
    const Shape *own = shape_of(code), *shape = shape_of(linked);
    if (own == NULL || shape == NULL) {
        PyErr_Clear();
        return "there is no memory";
    }
    if (linked->co_argcount != code->co_argcount || linked->co_kwonlyargcount != code->co_kwonlyargcount
        || linked->co_posonlyargcount != code->co_posonlyargcount) {
        return "its argument counts differ";
    }
    if (linked->co_flags != code->co_flags) {
        return "its flags differ";
    }
    if (!names_start_with(shape->varnames, own->varnames, 0)) {
        return "its locals do not start with the locals of the original";
    }
    if (!names_start_with(shape->cellvars, own->cellvars, 1)) {
        return "its cell variables differ";
    }
    if (!names_start_with(shape->freevars, own->freevars, 1)) {
        return "its free variables differ";
    }
    return NULL;
}
