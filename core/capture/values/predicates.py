"""Predicates: facts about a value beyond its type. Each becomes a guard on the path to the value.

Interpreter and models note them where a capture depends on such a fact. They must be checkable without code of the
user.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, FrozenSet, List, Union

from pijit.core.named_tuples import NamedTuple
from pijit.guards import guard as kinds
from pijit.guards.axes import UnitAxes
from pijit.guards.pairs import DistinctObject
from pijit.guards.source import UNBOUND, Attr, Constant, Item, TypeOf


class HasLength(NamedTuple):
    """A tuple, list or dict has this many items."""

    length: int

    def guards(self, source: Any) -> List[Any]:
        return [kinds.LengthIs(source, self.length)]


class HasValue(NamedTuple):
    """A number or another plain value has this value."""

    value: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.Equals(source, self.value)]


class HasUnitAxes(NamedTuple):
    """Of the axes of an array exactly these have length 1."""

    axes: FrozenSet[int]

    def guards(self, source: Any) -> List[Any]:
        return [UnitAxes(source, self.axes)]


class HasItem(NamedTuple):
    """A tuple, list or dict has an item at this key. Its value does not matter."""

    key: Union[int, str]

    def guards(self, source: Any) -> List[Any]:
        return [DistinctObject(Item(source, self.key), Constant(UNBOUND))]


class LacksItem(NamedTuple):
    """A tuple, list or dict has no item at this key."""

    key: Union[int, str]

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Item(source, self.key))]


class LacksAttribute(NamedTuple):
    """An object has no attribute of this name."""

    name: str

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Attr(source, self.name))]


class ClassLacks(NamedTuple):
    """Neither an object's class nor its bases define this name."""

    name: str

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Attr(TypeOf(source), self.name))]


class ClassHolds(NamedTuple):
    """The class of an object has this very object under a name, so the attribute is read through it."""

    name: str
    object: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsIdentical(Attr(TypeOf(source), self.name), self.object)]


class ClassHasOwn(NamedTuple):
    """The class of an object defines this many attributes itself, so none was added."""

    attributes: int

    def guards(self, source: Any) -> List[Any]:
        return [kinds.OwnCountIs(TypeOf(source), self.attributes)]


class IsObject(NamedTuple):
    """The value is this very object."""

    object: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsIdentical(source, self.object)]


class HasCode(NamedTuple):
    """A Python function has this code."""

    code: CodeType

    def guards(self, source: Any) -> List[Any]:
        return [kinds.FunctionCode(source, self.code)]


class HasType(NamedTuple):
    """An object is exactly of this type."""

    type: type

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, self.type)]


class Holds(NamedTuple):
    """A class has this very object under a name, or has no such attribute if ``object`` is UNBOUND."""

    name: str
    object: Any

    def guards(self, source: Any) -> List[Any]:
        path = Attr(source, self.name)
        return [kinds.IsAbsent(path) if self.object is UNBOUND else kinds.IsIdentical(path, self.object)]
