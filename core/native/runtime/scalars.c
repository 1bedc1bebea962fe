/* NumPy scalars: frame words to values in memory or objects, and back. */
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/half_inl.h"
#include "runtime/runtime_inl.h"
#include <numpy/arrayscalars.h>
#include <string.h>

/* The word of the scalar in memory; the first word of a complex one. */
static int64_t
scalar_load(const void *source, int typenum)
{
    double value;
    int64_t word;

    switch (typenum) {
    case NPY_BOOL: return *(const npy_bool *)source != 0;
    case NPY_BYTE: return *(const npy_byte *)source;
    case NPY_UBYTE: return *(const npy_ubyte *)source;
    case NPY_SHORT: return *(const npy_short *)source;
    case NPY_USHORT: return *(const npy_ushort *)source;
    case NPY_INT: return *(const npy_int *)source;
    case NPY_UINT: return *(const npy_uint *)source;
    case NPY_LONG: return *(const npy_long *)source;
    case NPY_ULONG: return *(const npy_ulong *)source;
    case NPY_LONGLONG: return *(const npy_longlong *)source;
    case NPY_ULONGLONG: return *(const npy_ulonglong *)source;
    case NPY_HALF: value = half_to_double(*(const npy_half *)source); break;
    case NPY_FLOAT:
    case NPY_CFLOAT: value = *(const npy_float *)source; break;
    default: value = *(const npy_double *)source; break;
    }
    memcpy(&word, &value, sizeof(word));
    return word;
}

void
scalar_words(PyObject *scalar, int typenum, int64_t *words)
{
    const char *value = SCALAR_VALUE(scalar);
    words[0] = scalar_load(value, typenum);
    if (scalar_is_complex(typenum)) {
        words[1] = scalar_load(value + scalar_size(typenum), typenum);
    }
}

void
scalar_store(void *target, int typenum, int64_t word)
{
    double value;
    memcpy(&value, &word, sizeof(value));

    switch (typenum) {
    case NPY_BOOL: *(npy_bool *)target = word != 0; break;
    case NPY_HALF: *(npy_half *)target = half_of_double(value); break;
    case NPY_FLOAT:
    case NPY_CFLOAT: *(npy_float *)target = (npy_float)value; break;
    case NPY_DOUBLE:
    case NPY_CDOUBLE: *(npy_double *)target = value; break;
    default:
        switch (scalar_size(typenum)) {
        case 1: *(npy_int8 *)target = (npy_int8)word; break;
        case 2: *(npy_int16 *)target = (npy_int16)word; break;
        case 4: *(npy_int32 *)target = (npy_int32)word; break;
        default: *(npy_int64 *)target = word; break;
        }
    }
}

PyObject *
scalar_box(PyTypeObject *type, int typenum, const int64_t *words)
{
    if (typenum == NPY_BOOL) {
        PyArrayScalar_RETURN_BOOL_FROM_LONG(words[0] != 0);
    }
    PyObject *scalar = type->tp_alloc(type, 0); /* new: the result */
    if (scalar == NULL) {
        return NULL;
    }
    char *value = SCALAR_VALUE(scalar);
    scalar_store(value, typenum, words[0]);
    if (scalar_is_complex(typenum)) {
        scalar_store(value + scalar_size(typenum), typenum, words[1]);
    }
    return scalar;
}

int64_t
runtime_store_scalar(int64_t address, int64_t typenum, int64_t word)
{
    scalar_store((void *)address, (int)typenum, word);
    return OK;
}

int64_t
runtime_load_scalar(int64_t address, int64_t typenum)
{
    return scalar_load((const void *)address, (int)typenum);
}
