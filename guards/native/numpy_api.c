#define NUMPY_API_MAIN
#include "numpy_api.h"
#include "numpy_ready.h"

int
numpy_ready(void)
{
    return PyArray_API != NULL ? 0 : _import_array();
}
