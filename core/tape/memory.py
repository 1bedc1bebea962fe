"""Memory of arrays: the owner, its adjoint (the shadow), and its contents at an earlier time.

A view has no adjoint of its own; its adjoint is the same view of the owner's shadow. Shadows are byte arrays, so a view
of any dtype and strides can be mapped to them, including the real part of a complex array.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Optional, Tuple

import numpy as np


def owner_of(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array at the end of the chain of bases, which owns the memory."""
    base: Any = x.base
    if base is None:
        return x
    while True:
        base = x.base
        if not issubclass(type(base), np.ndarray):
            base = getattr(base, "base", None)  # the holder that as_strided makes
            if not issubclass(type(base), np.ndarray):
                return x
        x = base


def bounds_of(x: np.ndarray[Any, Any]) -> Tuple[int, int]:
    """Address of the first byte, and of the byte after the last one."""
    low = high = x.__array_interface__["data"][0]
    for n, stride in zip(x.shape, x.strides):
        if n == 0:
            return low, low
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    return low, high + x.itemsize


def overlaps_itself(x: np.ndarray[Any, Any]) -> bool:
    """Whether two elements may share memory, as in broadcast arrays and sliding windows."""
    reach = x.itemsize
    for stride, n in sorted((abs(stride), n) for stride, n in zip(x.strides, x.shape) if n > 1):
        if stride < reach:
            return True
        reach = stride * (n - 1) + reach
    return False


class Memory:
    """Record of the tape for one owner.

    Attributes:
        owner: the array; a strong reference, so that its id is not reused.
        active: whether the memory depends on an active argument.
        shared: description of an argument that shares this memory with another one; the memory must not be written.
    """

    __slots__ = ("owner", "active", "shared", "_low", "_size", "_shadow", "_earlier")

    def __init__(self, owner: np.ndarray[Any, Any]) -> None:
        self.owner = owner
        self.active = False
        self.shared: Optional[str] = None
        self._low, high = bounds_of(owner)
        self._size = high - self._low
        self._shadow: Optional[np.ndarray[Any, Any]] = None
        self._earlier: Optional[np.ndarray[Any, Any]] = None

    @property
    def bounds(self) -> Tuple[int, int]:
        """First address, and the address after the last byte."""
        return self._low, self._low + self._size

    def has_shadow(self) -> bool:
        """Whether a contribution was added to the adjoint."""
        return self._shadow is not None

    def shadow(self, x: Any) -> np.ndarray[Any, Any]:
        """The adjoint of the view ``x``; writable, allocated as zeros at the first use."""
        if self._shadow is None:
            self._shadow = np.zeros(self._size, dtype=np.uint8)
        return self._look(self._shadow, x)

    def earlier(self, run: Callable[..., Any], x: Any) -> np.ndarray[Any, Any]:
        """``x`` in the private copy on which stores are undone; the user's memory is never written."""
        if self._earlier is None:
            self._earlier = np.zeros(self._size, dtype=np.uint8)
            run(operator.setitem, self._look(self._earlier, self.owner), ..., self.owner)
        return self._look(self._earlier, x)

    def value(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """``x`` at the point that the backward sweep has reached."""
        return x if self._earlier is None else self._look(self._earlier, x)

    def forget(self) -> None:
        """Drop the adjoint and the private copy."""
        self._shadow = self._earlier = None

    def _look(self, block: np.ndarray[Any, Any], x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if x.size == 0:
            return np.zeros(x.shape, dtype=x.dtype)
        offset = x.__array_interface__["data"][0] - self._low
        return np.ndarray(x.shape, x.dtype, block, offset, x.strides)

    def places(self, x: np.ndarray[Any, Any]) -> Tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The shadow as a 1-D array of ``x``'s dtype, and the index in it of each element of ``x``."""
        start = x.__array_interface__["data"][0] - self._low
        skip = start % x.itemsize
        self.shadow(x)
        shadow: Any = self._shadow
        row = shadow[skip:skip + (self._size - skip) // x.itemsize * x.itemsize].view(x.dtype)
        index = np.full(x.shape, (start - skip) // x.itemsize)
        for axis, (n, stride) in enumerate(zip(x.shape, x.strides)):
            shape = [1] * x.ndim
            shape[axis] = n
            index += (np.arange(n) * (stride // x.itemsize)).reshape(shape)
        return row, index
