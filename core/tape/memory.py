"""Places of elements in the adjoint of the memory of an array.

A view has no adjoint of its own; its adjoint is the same view of the shadow of its owner (`native.Memory`).
"""

from __future__ import annotations

from typing import Any, Tuple

import numpy as np

from pijit.core.tape.native import Memory


def places_of(memory: Memory, x: np.ndarray[Any, Any]) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The shadow as a 1-D array of ``x``'s dtype, and the index in it of each element of ``x``."""
    start = x.__array_interface__["data"][0] - memory.bounds[0]
    skip = start % x.itemsize
    shadow: Any = memory.shadow_bytes()
    row = shadow[skip:skip + (len(shadow) - skip) // x.itemsize * x.itemsize].view(x.dtype)
    index = np.full(x.shape, (start - skip) // x.itemsize)
    for axis, (n, stride) in enumerate(zip(x.shape, x.strides)):
        shape = [1] * x.ndim
        shape[axis] = n
        index += (np.arange(n) * (stride // x.itemsize)).reshape(shape)
    return row, index
