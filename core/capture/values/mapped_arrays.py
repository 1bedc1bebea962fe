"""Arrays of the class `numpy.memmap`, and arrays for whose making NumPy runs code of that class.

`models/numpy/mapped_arrays.py` says what kernels compute with them.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Tuple, cast

import numpy as np

from pijit.core.capture.values.base import Abstract
from pijit.core.capture.values.kernel_local import PendingOperand
from pijit.core.capture.values.known_objects import OpaqueObject
from pijit.core.capture.values.typed_values import Tensor
from pijit.core.graph.types import Array

HOOKS = ("__getitem__", "__array_wrap__", "__array_finalize__", "__array_priority__")
"""Attributes that the class defines, and that NumPy uses for views and results."""

MODULES = ("numpy.core.memmap", "numpy._core.memmap")
OWN = frozenset(["__array_priority__", "__dict__", "__doc__", "__module__", "__new__"])
"""Attributes of the class that arrays have as well, besides methods."""


def is_unchanged() -> bool:
    """Whether `numpy.memmap` is as NumPy has made it. If not, memmaps are objects like others."""
    has_own = all(name in OWN or not hasattr(np.ndarray, name) or isinstance(found, FunctionType)
                  and found.__globals__.get("__name__") in MODULES for name, found in vars(np.memmap).items())
    return has_own and all(name in vars(np.memmap) for name in HOOKS)


class MappedArray(OpaqueObject):
    """A `numpy.memmap` from outside. ``type`` is the graph type of a plain array with its memory."""

    __slots__ = ("type",)

    def __init__(self, sample: Any, type: Array, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(sample, source, defined_at)
        self.type = type

    def without_object(self) -> "MappedArray":
        """The same for a value of which no reference may be kept: ``sample`` is a memmap of ones without a file."""
        ones = np.ones((1,) * self.type.ndim, self.type.dtype).view(np.memmap)
        return MappedArray(ones, self.type, None, self.defined_at)

    def key(self) -> Any:
        return self.type, self.source, id(self.sample) if self.source is not None else None

    def rooted(self, root: Any, keep: bool = False) -> "MappedArray":
        copy = MappedArray(self.sample, self.type, self.source, self.defined_at)
        copy.root = root
        return copy


class UnmadeArray(PendingOperand):
    """An array on the operand stack that NumPy makes with code of `numpy.memmap`; a kernel only computes its elements.

    ``array`` has the elements. ``is_mapped``: it is a memmap, or would be one if it were not empty. Otherwise it is a
    plain array whose base is a memmap.
    """

    __slots__ = ("array", "is_mapped")

    def __init__(self, array: Tensor, is_mapped: bool, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.array = array
        self.is_mapped = is_mapped

    def key(self) -> Any:
        return self.array, self.is_mapped

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.array,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "UnmadeArray":
        return UnmadeArray(cast(Tensor, parts[0]), self.is_mapped, self.defined_at)
