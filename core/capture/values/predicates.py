"""Facts about a value beyond its type that steered a capture: each becomes a guard on where the value comes from."""

from __future__ import annotations

from types import CodeType
from typing import Any, List, NamedTuple, Union

from pijit.guards import guard as kinds
from pijit.guards.pairs import DistinctObject
from pijit.guards.source import UNBOUND, Attr, Constant, Item, TypeOf


class HasLength(NamedTuple):
    """A tuple, list or dict has this many items."""

    length: int

    def guards(self, source: Any) -> List[Any]:
        return [kinds.LengthIs(source, self.length)]


class HasValue(NamedTuple):
    """A number or another plain value is this one."""

    value: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.Equals(source, self.value)]


class HasItem(NamedTuple):
    """A tuple, list or dict has an item, whatever it is."""

    key: Union[int, str]

    def guards(self, source: Any) -> List[Any]:
        return [DistinctObject(Item(source, self.key), Constant(UNBOUND))]


class LacksItem(NamedTuple):
    """A tuple, list or dict has no such item."""

    key: Union[int, str]

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Item(source, self.key))]


class LacksAttribute(NamedTuple):
    """An object has no attribute of this name."""

    name: str

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Attr(source, self.name))]


class ClassLacks(NamedTuple):
    """An object's class defines nothing of this name, nor do its bases."""

    name: str

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsAbsent(Attr(TypeOf(source), self.name))]


class ClassHolds(NamedTuple):
    """An object's class has this very object under a name, which is what makes the attribute."""

    name: str
    object: Any

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsIdentical(Attr(TypeOf(source), self.name), self.object)]


class IsObject(NamedTuple):
    """It is this very object."""

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
    """A class has this very object under a name, or nothing."""

    name: str
    object: Any

    def guards(self, source: Any) -> List[Any]:
        path = Attr(source, self.name)
        return [kinds.IsAbsent(path) if self.object is UNBOUND else kinds.IsIdentical(path, self.object)]
