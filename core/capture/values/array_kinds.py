"""Array types: whether kernels support an array, and its graph type.

The lattice, the models of arrays and the hints ask here. It must not decide by an array's contents.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from pijit.core.graph.types import CAPTURED_DTYPES, Array
from pijit.guards.facts import WARN_ON_WRITE, WRITEABLE


def layout_of(array: np.ndarray[Any, Any]) -> str:
    """The layout letter of an array: "C", "F" (and not C) or "A"."""
    if array.flags.c_contiguous:
        return "C"
    return "F" if array.flags.f_contiguous else "A"


def is_transposed(array: np.ndarray[Any, Any]) -> bool:
    """Whether the stride of the last axis is larger than that of another axis, as in a transposed array."""
    strides = [abs(stride) for size, stride in zip(array.shape, array.strides) if size > 1 and stride]
    return bool(strides) and strides[-1] != min(strides)


def is_ordered(array: np.ndarray[Any, Any]) -> bool:
    """Whether no stride is larger than that of an axis before it, as in a slice of an array in C order."""
    strides = [abs(stride) for stride in array.strides]
    return all(strides) and sorted(strides, reverse=True) == strides


def is_captured(dtype: np.dtype[Any]) -> bool:
    """Whether kernels support a dtype. The dtypes of C's two 64-bit integer types compare equal; only one is supported.
    """
    return dtype in CAPTURED_DTYPES and dtype.isnative and dtype.num == np.dtype(dtype.str).num


def array_type(array: np.ndarray[Any, Any]) -> Optional[Array]:
    """The graph type of an array if kernels support it, else None."""
    return memory_type(array) if type(array) is np.ndarray else None


def memory_type(array: np.ndarray[Any, Any]) -> Optional[Array]:
    """The graph type of a plain array with the memory of an array, which may be of a subclass; None if kernels do not
    support it."""
    if not is_captured(array.dtype):
        return None
    if not array.flags.aligned or array.flags.num & WARN_ON_WRITE:
        return None
    layout = layout_of(array)
    transposed = layout == "A" and is_transposed(array)
    return Array(array.dtype, array.ndim, layout, bool(array.flags.num & WRITEABLE), transposed, is_ordered(array))
