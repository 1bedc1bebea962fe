/* Sizes of the NumPy scalars that fit frame words; inlined functions. */
#ifndef PIJIT_RUNTIME_SCALARS_INL_H
#define PIJIT_RUNTIME_SCALARS_INL_H

#include "numpy_api.h"

/* The item size of a dtype whose scalars fit frame words (complex: of one half), 0 for any other dtype. */
static inline int
scalar_size(int typenum)
{
    static const unsigned char sizes[] = {
        [NPY_BOOL] = sizeof(npy_bool),         [NPY_BYTE] = sizeof(npy_byte),           [NPY_UBYTE] = sizeof(npy_ubyte),
        [NPY_SHORT] = sizeof(npy_short),       [NPY_USHORT] = sizeof(npy_ushort),       [NPY_INT] = sizeof(npy_int),
        [NPY_UINT] = sizeof(npy_uint),         [NPY_LONG] = sizeof(npy_long),           [NPY_ULONG] = sizeof(npy_ulong),
        [NPY_LONGLONG] = sizeof(npy_longlong), [NPY_ULONGLONG] = sizeof(npy_ulonglong), [NPY_FLOAT] = sizeof(npy_float),
        [NPY_DOUBLE] = sizeof(npy_double),     [NPY_CFLOAT] = sizeof(npy_float),        [NPY_CDOUBLE] = sizeof(npy_double),
        [NPY_HALF] = sizeof(npy_half),
    };
    return typenum >= 0 && typenum < (int)sizeof(sizes) ? sizes[typenum] : 0;
}

static inline int
scalar_is_complex(int typenum)
{
    return typenum == NPY_CFLOAT || typenum == NPY_CDOUBLE;
}

#endif
