"""Typed values: numbers, arrays and objects that one SSA value carries, and containers of known items.

`lattice` lists them with the others. They must not know how a value is computed.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.values.base import Abstract, Join, Unknown, joined_parts
from pijit.core.graph.ir import Value
from pijit.core.graph.types import INT, PYTHON_CLASS, Array, Object, SampledClass, Scalar, Type, Vacant
from pijit.guards import guard as kinds

PythonClass = type
"""The class of a Python value. Classes with an attribute ``type`` need this name in annotations."""


class TypedValue(Abstract):
    """A scalar or an array of a known type, carried by one SSA value."""

    __slots__ = ("type", "value")

    def __init__(self, type: Type, value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.type = type
        self.value = value

    def key(self) -> Any:
        return self.type

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self != other:
            return None
        return type(self)(self.type, None, self.source if self.source == other.source else None, self.defined_at)

    def carried_by(self, value: Optional[Value]) -> "TypedValue":
        """A copy that this SSA value carries."""
        return type(self)(self.type, value, self.source, self.defined_at)

    def rooted(self, root: Any, keep: bool = False) -> "TypedValue":
        copy = self.carried_by(self.value if keep else None)
        copy.root = root
        return copy


def ssa_value(value: TypedValue) -> Value:
    """The SSA value that carries a value which was used. In type propagation it may be None, and nothing reads it."""
    return cast(Value, value.value)


class Number(TypedValue):
    """A Python or NumPy scalar.

    ``sample`` is its value at capture time if it comes from outside, else None. ``expected`` is the value of an int
    that follows from the expected lengths of arrays. Capture relies on it after a check only.
    """

    __slots__ = ("sample", "expected")
    type: Scalar

    def __init__(self, type: Scalar, value: Optional[Value] = None, source: Any = None, defined_at: int = -1,
                 sample: Any = None, expected: Optional[int] = None) -> None:
        super().__init__(type, value, source, defined_at)
        self.sample = sample
        self.expected = expected

    @property
    def python(self) -> PythonClass:
        return PYTHON_CLASS.get(self.type) or self.type.dtype.type

    def carried_by(self, value: Optional[Value]) -> "Number":
        return Number(self.type, value, self.source, self.defined_at, self.sample, self.expected)

    def guards(self, source: Any) -> List[Any]:
        if self.type == INT:
            return [kinds.IntRange(source)]
        return [kinds.IsType(source, self.python)]


class Tensor(TypedValue):
    """A NumPy array. If it is the view ``array[index]``, ``part`` is (the SSA value of the array, the index)."""

    __slots__ = ("part", "_shape_source")
    python = np.ndarray
    type: Array

    def __init__(self, type: Array, value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(type, value, source, defined_at)
        self.part: Any = None
        self._shape_source: Any = None

    @property
    def shape_source(self) -> Any:
        """The path from function entry to an array of this shape: to this one, or to one that it was made of."""
        return self.source if self.source is not None else self._shape_source

    def carried_by(self, value: Optional[Value]) -> "Tensor":
        return Tensor(self.type, value, self.source, self.defined_at).shaped_as(self)

    def shaped_as(self, other: "Tensor") -> "Tensor":
        """This array, which has the shape of another one."""
        self._shape_source = other.shape_source
        return self

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if not isinstance(other, Tensor):
            return super().joined_with(other, join)
        if self == other:
            source = self.source if self.source == other.source else None
            same = Tensor(self.type, None, source, self.defined_at)
            return same.shaped_as(self) if self.shape_source == other.shape_source else same
        joined = self.type.join(other.type)
        return Tensor(joined, defined_at=self.defined_at) if joined is not None else Unknown("PJ213", self.defined_at)

    def guards(self, source: Any) -> List[Any]:
        kind = self.type
        return [kinds.IsArray(source, kind.dtype, kind.ndim, kind.layout, True if kind.writeable else None, True)]


class Instance(TypedValue):
    """An object of one class, such as a list that the function has made. Its type may hold expected element types."""

    __slots__ = ()
    type: Object

    @property
    def python(self) -> Optional[PythonClass]:
        return self.type.python

    def key(self) -> Any:
        return self.type, getattr(self.type, "items", None)

    def guards(self, source: Any) -> List[Any]:
        python = self.type.python
        return [kinds.IsType(source, python)] if python is not None else []  # without a class each read checks it


class ListElement(Instance):
    """An element of a long list: an object like those that capture has sampled, of one class or of several."""

    __slots__ = ()
    type: SampledClass


class KnownContainer(Instance):
    """A list or dict whose items are all known, until it may have been changed. ``keys`` is None for a list."""

    __slots__ = ("keys", "items")
    has_parts = True

    def __init__(self, type: Object, keys: Optional[Tuple[Any, ...]], items: List[Abstract],
                 value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(type, value, source, defined_at)
        self.keys = keys
        self.items = tuple(items)

    def key(self) -> Any:
        return (self.type, self.keys, self.items)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.items

    @property
    def lasting_parts(self) -> Tuple[Abstract, ...]:
        return ()

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "KnownContainer":
        return self.like(list(parts), self.value, self.source)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if (not isinstance(other, KnownContainer) or self.keys != other.keys or len(self.items) != len(other.items)
                or self.type.python is not other.type.python):
            return None
        items = joined_parts(self, other, join)
        known = self == other or not any(item.knows_nothing() for item in items)
        return self.like(list(items), None) if known else None

    def like(self, items: List[Abstract], value: Optional[Value], source: Any = None) -> "KnownContainer":
        """The same container with other values for its items and for the object."""
        return KnownContainer(self.type, self.keys, items, value, source, self.defined_at)

    def carried_by(self, value: Optional[Value]) -> "KnownContainer":
        return self.like(list(self.items), value, self.source)

    def rooted(self, root: Any, keep: bool = False) -> "KnownContainer":
        copy = self.like([item.rooted(None) for item in self.items], None)
        copy.root = root
        return copy

    def forgotten(self) -> Instance:
        """The same object after it may have changed: its items are no longer known."""
        kind = self.type if self.items else Vacant(cast(type, self.type.python))
        copy = Instance(kind, self.value, self.source, self.defined_at)
        copy.root = self.root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, self.type.python), kinds.LengthIs(source, len(self.items))]
