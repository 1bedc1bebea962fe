"""What the items of a list are expected to be, from some of them: a type of the graph that a read makes sure of."""

from __future__ import annotations

from typing import Any, Optional
from typing import Sequence as SequenceType

from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Known,
    Opaque,
    Sequence,
    Tensor,
    abstract_of,
    class_of,
    number_type,
)
from pijit.core.graph.types import Array, Holding, ListOf, Object, Scalar, Type
from pijit.guards.facts import is_among
from pijit.guards.source import is_plain_tuple

READABLE = (list, tuple, dict)
LOOKED_AT = 256
"""How many items of a list are looked at to find the type that covers them."""
LONGEST_ROW = 8
"""The tuples in a list whose items are read at once."""
DEEPEST = 3
"""How deep lists and tuples in lists are told apart by what they hold."""


def type_of(value: Abstract, depth: int = 0) -> Optional[Type]:
    """The type under which a read finds a value like this, or None where none does."""
    kind = number_type(value)
    if kind is not None:
        return kind
    if isinstance(value, Tensor):
        return value.type
    if isinstance(value, Opaque) and type(value.sample) is tuple and len(value.sample) <= LONGEST_ROW:
        return _row([abstract_of(item) for item in value.sample])
    if isinstance(value, Sequence):
        return _row(value.items)
    if isinstance(value, Const) and type(value.object) is str:
        return Object(str)
    known = class_of(value)
    if known is list and depth < DEEPEST - 1:
        return list_type(value, depth + 1)
    if isinstance(value, Opaque) and not (is_among(known, (list, dict)) or is_plain_tuple(value.sample)):
        return None
    return Object(known) if isinstance(value, (Opaque, Instance)) and is_among(known, READABLE) else None  # type: ignore


def _row(items: SequenceType[Abstract]) -> Optional[Type]:
    kinds = [type_of(item) for item in items]
    return None if None in kinds else Holding(tuple, tuple(kinds))


def common_type(one: Optional[Type], other: Optional[Type]) -> Optional[Type]:
    """The type that covers both, or None."""
    if isinstance(one, Array) and isinstance(other, Array):
        return one.join(other)
    if isinstance(one, Holding) and isinstance(other, Holding) and one.python is other.python is tuple:
        if len(one.items) != len(other.items):
            return Object(tuple)
        kinds = [common_type(a, b) for a, b in zip(one.items, other.items)]
        return None if None in kinds else Holding(tuple, tuple(kinds))
    holding = isinstance(one, (ListOf, Holding)) and isinstance(other, (ListOf, Holding))
    if holding and one.python is other.python is list:  # type: ignore[union-attr]
        return list_of(common_type(one.items, other.items)) or Object(list)
    if isinstance(one, Object) and one == other and not is_like(one, other):
        return Object(one.python)
    return one if one is not None and one == other else None


def is_like(one: Optional[Type], other: Optional[Type]) -> bool:
    """Whether two types are one, with what they expect of items."""
    here, there = getattr(one, "items", None), getattr(other, "items", None)
    if not isinstance(here, tuple):
        return one == other and (here is there is None or is_like(here, there))
    return one == other and type(there) is tuple and len(here) == len(there) and all(map(is_like, here, there))


def nesting(kind: Optional[Type]) -> int:
    """How many lists and tuples are in each other in items of such a type."""
    items = getattr(kind, "items", None)
    if items is None:
        return 0
    return 1 + max(map(nesting, items if isinstance(items, tuple) else (items,)), default=0)


def list_like(items: SequenceType[Any], depth: int = 0) -> Optional[Object]:
    """The type of a list with items like these, or None where they have no type in common."""
    return list_like_values([abstract_of(item) for item in items], depth)


def list_like_values(items: SequenceType[Abstract], depth: int = 0) -> Optional[Object]:
    """The same of abstract values."""
    kind = type_of(items[0], depth) if items else None
    for item in items[1:]:
        kind = common_type(kind, type_of(item, depth)) if kind is not None else None
    return list_of(kind)


def list_type(value: Abstract, depth: int = 0) -> Object:
    """The type of a list, with what is known or expected of its items."""
    if isinstance(value, Known):
        return list_like_values(value.items, depth) or Object(list)
    if isinstance(value, Instance):
        return value.type
    some = LOOKED_AT if depth == 0 else LONGEST_ROW
    return (list_like(value.sample[:some], depth) if isinstance(value, Opaque) else None) or Object(list)


def list_of(kind: Optional[Type]) -> Optional[Object]:
    """The type of a list whose items are expected to be of a type."""
    if kind is None:
        return None
    return ListOf(kind) if isinstance(kind, Scalar) else Holding(list, kind)
