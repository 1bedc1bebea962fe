"""Constants, objects from outside of the captured code, and tuples of known items.

`lattice` lists them with the others. A value here must not copy the object that it stands for.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

from pijit.core.capture.values.base import Abstract, Join, joined_parts
from pijit.core.graph.ir import Value
from pijit.guards import guard as kinds
from pijit.guards.facts import is_among, is_exactly

BY_VALUE = (int, float, bool, complex, str, bytes, type(None))
"""Classes whose objects are guarded by value, others by identity."""

SMALL = range(-5, 257)
"""Integers that are singletons in CPython, so a program cannot tell when one was computed."""


class Const(Abstract):
    """One known object."""

    __slots__ = ("object",)

    def __init__(self, object: Any, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.object = object

    @property
    def python(self) -> type:
        return type(self.object)

    def key(self) -> Any:
        kind = type(self.object)
        if is_among(kind, (int, float, bool, complex, str, bytes)):
            return (kind, repr(self.object))
        return id(self.object)

    def rooted(self, root: Any, keep: bool = False) -> "Const":
        copy = Const(self.object, self.source, self.defined_at)
        copy.root = root
        return copy

    def guards(self, source: Any) -> List[Any]:
        by_value = is_exactly(self.object, BY_VALUE)
        return [kinds.Equals(source, self.object) if by_value else kinds.IsIdentical(source, self.object)]


class OpaqueObject(Abstract):
    """An object of a known type whose attributes and items may be read under guards. ``sample`` is such an object.

    Two are equal only if they have the same source, because their attributes and items are read through it.
    """

    __slots__ = ("sample",)

    def __init__(self, sample: Any, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.sample = sample

    @property
    def python(self) -> type:
        return type(self.sample)

    def key(self) -> Any:
        return id(self.sample), self.source

    def rooted(self, root: Any, keep: bool = False) -> "OpaqueObject":
        copy = OpaqueObject(self.sample, self.source, self.defined_at)
        copy.root = root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, type(self.sample))]


class Sequence(Abstract):
    """A tuple with known items; ``value`` carries the object if it has been made."""

    __slots__ = ("items", "value")
    python = tuple
    has_parts = True

    def __init__(self, items: List[Abstract], source: Any = None, defined_at: int = -1,
                 value: Optional[Value] = None) -> None:
        super().__init__(source, defined_at)
        self.items = tuple(items)
        self.value = value

    def key(self) -> Any:
        return self.items

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.items

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Sequence":
        return type(self)(list(parts), self.source, self.defined_at, self.value)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, Sequence) or len(self.items) != len(other.items):
            return super().joined_with(other, join)
        kind = type(self) if type(self) is type(other) else Sequence
        return kind(list(joined_parts(self, other, join)), defined_at=self.defined_at)

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        return self.with_mapped_parts(lambda part: part.forgotten())

    def rooted(self, root: Any, keep: bool = False) -> "Sequence":
        items = self.items if keep else [item.rooted(None) for item in self.items]
        copy = Sequence(list(items), self.source, self.defined_at, self.value if keep else None)
        copy.root = root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, tuple), kinds.LengthIs(source, len(self.items))]
