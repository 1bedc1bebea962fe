"""Deep copies of object graphs that preserve shared memory between arrays.

`copy.deepcopy` gives each array its own memory, so `f(x, x[1:])` on deep copies is a different program. Here the memory
of the arrays is copied once, and each array becomes the same view of the copy. Everything else is left to
`copy.deepcopy`, which finds the arrays in its memo. `pijit.differential` calls it. It must not change the objects that
it copies.
"""

from __future__ import annotations

import copy
import types
from typing import Any, Dict, Iterator, List, Optional, Set

import numpy as np

from pijit.core.named_tuples import NamedTuple
from pijit.guards.facts import WRITEABLE

_ALIGNMENT = 64  # of the copied memory relative to the original: arrays stay aligned or misaligned


class _Memory(NamedTuple):
    """The copy of the memory that some arrays share."""

    array: np.ndarray[Any, Any]  # the copy of the array that owns the memory
    flat: np.ndarray[Any, Any]  # the same memory in one dimension
    low: int  # address in the original memory that corresponds to the start of `flat`


class Copier:
    """Copies objects; later copies reuse what was copied before.

    Args:
        known: a copier whose copies this one also uses; it is not modified.

    Example:
        >>> x = np.zeros(3)
        >>> a, b = Copier().copy((x, x[1:]))
        >>> np.may_share_memory(a, b), np.may_share_memory(a, x)
        (True, False)
    """

    def __init__(self, known: Optional[Copier] = None) -> None:
        self._memo: Dict[int, Any] = dict(known._memo) if known is not None else {}
        self._memories: Dict[int, _Memory] = dict(known._memories) if known is not None else {}
        self._originals: List[Any] = list(known._originals) if known is not None else []

    def copy(self, value: Any) -> Any:
        """A deep copy of `value`.

        Raises:
            TypeError: an object in it cannot be copied (a file, a generator).
        """
        for array in arrays_in(value):
            if id(array) not in self._memo:
                self._copy_array(array)
        return copy.deepcopy(value, self._memo)

    def _remember(self, original: Any, copied: Any) -> None:
        self._memo[id(original)] = copied
        self._originals.append(original)  # an id is unique only while its object lives

    def _copy_array(self, array: np.ndarray[Any, Any]) -> None:
        base = array
        while isinstance(base.base, np.ndarray):
            base = base.base
        if id(base) not in self._memories:
            self._copy_base(base)
        if array is not base:
            memory = self._memories[id(base)]
            offset = _address(array) - memory.low if array.size else 0
            view: np.ndarray[Any, Any] = np.ndarray(array.shape, array.dtype, memory.flat, offset, array.strides)
            if not array.flags.num & WRITEABLE:  # setting True checks the base, which may be read-only by now
                view.flags.writeable = False
            self._remember(array, view)

    def _copy_base(self, base: np.ndarray[Any, Any]) -> None:
        """Copy an array that owns memory; objects in it are copied, too."""
        found = _empty_owner(base) if base.flags.aligned and base.base is None else None
        copied, flat = found if found is not None else _empty_at(base)
        self._memories[id(base)] = _Memory(copied, flat, _bounds(base)[0])
        self._remember(base, copied)  # before its elements: it may contain itself
        if base.dtype.hasobject:
            for index in np.ndindex(*base.shape):
                copied[index] = self.copy(base[index])
        else:
            copied[...] = base
        copied.flags.writeable = bool(base.flags.num & WRITEABLE)


def _address(array: np.ndarray[Any, Any]) -> int:
    return int(array.__array_interface__["data"][0])


def _bounds(array: np.ndarray[Any, Any]) -> Any:
    """The lowest address of an array, and the address after its highest byte."""
    low = high = _address(array)
    for length, stride in zip(array.shape, array.strides):
        if stride < 0:
            low += (length - 1) * stride
        else:
            high += (length - 1) * stride
    return low, high + array.itemsize


def _empty_owner(array: np.ndarray[Any, Any]) -> Any:
    """An array with the shape and strides of `array` that owns its memory, and a 1-D view of it; or None."""
    try:
        copied: np.ndarray[Any, Any] = np.ndarray(array.shape, array.dtype, strides=array.strides)
    except ValueError:  # its buffer is larger than its elements, or its strides are negative
        return None
    flat = copied.ravel(order="K")
    return (copied, flat) if flat.base is copied else None


def _empty_at(array: np.ndarray[Any, Any]) -> Any:
    """An array with the shape, strides and alignment of `array`, and the bytes of its memory.

    The owner of the bytes is not an array. Where it begins before them does not count as a difference of two copies.
    """
    low, high = _bounds(array)
    size = max(high - low, 0)
    memory = bytearray(size + _ALIGNMENT)
    start = (low - _address(np.frombuffer(memory, np.uint8))) % _ALIGNMENT
    flat: np.ndarray[Any, Any] = np.ndarray((size,), np.uint8, memory, start)
    return np.ndarray(array.shape, array.dtype, memory, start + _address(array) - low, array.strides), flat


def arrays_in(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    """The plain arrays in an object graph: in containers, attributes and arrays of objects.

    Subclasses of ndarray are left out, because they define their own copying.
    """
    seen: Set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, _LEAVES):
            continue
        seen.add(id(item))
        if type(item) is np.ndarray:
            yield item
            waiting.extend(item.ravel(order="K") if item.dtype.hasobject and item.dtype.names is None else ())
        else:
            waiting.extend(_children(item))


_LEAVES = (type(None), bool, int, float, complex, str, bytes, type, types.ModuleType, types.FunctionType,
           types.BuiltinFunctionType, types.CodeType, np.generic, np.dtype, np.ufunc)


def _children(item: Any) -> List[Any]:
    if isinstance(item, (list, tuple, set, frozenset)):
        children = list(item)
    elif isinstance(item, dict):
        children = list(item) + list(item.values())
    else:
        children = []
    if isinstance(item, types.MethodType):
        children.append(item.__self__)
    children.extend(getattr(item, "__dict__", {}).values())
    for kind in type(item).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(item, name):
                children.append(getattr(item, name))
    return children
