/* Search and sort of lists and tuples in kernels. */
#ifndef PIJIT_RUNTIME_OBJECTS_SEARCH_SORT_H
#define PIJIT_RUNTIME_OBJECTS_SEARCH_SORT_H

#include "launcher/abi.h"

typedef enum { OTHER_ITEM, NOTHING, TEXT, PYTHON_NUMBER, NUMPY_NUMBER } ItemKind;

ItemKind item_kind(PyObject *object);

#endif
