"""Expected element types of lists, derived from some of the elements.

The type is an expectation only: each read checks the element that it finds.
"""

from __future__ import annotations

from typing import Any, Callable, Optional, Union
from typing import Sequence as SequenceType

from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    Number,
    OpaqueObject,
    Sequence,
    Tensor,
    TypedValue,
    abstract_of,
    number_type,
)
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.graph.types import Array, Holding, ListOf, Object, Scalar, Type
from pijit.guards.facts import is_among, is_exactly
from pijit.guards.source import is_plain_tuple

READABLE = (list, tuple, dict)
LOOKED_AT = 256
"""How many elements of a list are examined to find their common type."""
LONGEST_TUPLE = 8
"""The maximum length of tuples in a list whose items a read loads all at once."""
DEEPEST = 3
"""Nesting depth up to which lists and tuples in lists are distinguished by their elements."""
DEEPEST_TUPLE = 4
"""Nesting depth up to which tuples in tuples are distinguished by their items. A list may be made of nested tuples."""


def type_of(value: Abstract, depth: int = 0, tuples: int = 0) -> Optional[Type]:
    """The graph type with which a read loads a value like this, or None if no read can.

    Arguments:
        value: the value.
        depth: the number of lists that contain it, also through tuples. A list may contain itself.
        tuples: the number of tuples right around it.
    """
    return LOADED_TYPES[type(value)](value, depth, tuples)


def _not_loaded(value: Abstract, depth: int, tuples: int) -> Optional[Type]:
    return None


def _type_of_typed(value: TypedValue, depth: int, tuples: int) -> Optional[Type]:
    return value.type


def _type_of_constant(value: Const, depth: int, tuples: int) -> Optional[Type]:
    return number_type(value) or (Object(str) if type(value.object) is str else _type_of_list(value, depth, tuples))


def _type_of_list(value: Abstract, depth: int, tuples: int) -> Optional[Type]:
    """The type of a list, unless it is nested too deeply."""
    return list_type(value, depth + 1) if value.python is list and depth < DEEPEST - 1 else None


def _type_of_opaque(value: OpaqueObject, depth: int, tuples: int) -> Optional[Type]:
    sample = value.sample
    if type(sample) is tuple and len(sample) <= LONGEST_TUPLE and tuples < DEEPEST_TUPLE:
        return _tuple_type([abstract_of(item) for item in sample], depth, tuples)
    if not (is_exactly(sample, (list, dict)) or is_plain_tuple(sample)):
        return None
    return _type_of_instance(value, depth, tuples)


def _type_of_instance(value: Union[Instance, OpaqueObject], depth: int, tuples: int) -> Optional[Type]:
    known = value.python
    return _type_of_list(value, depth, tuples) or (Object(known) if is_among(known, READABLE) else None)


def _type_of_tuple(value: Sequence, depth: int, tuples: int) -> Optional[Type]:
    return _tuple_type(value.items, depth, tuples) if tuples < DEEPEST_TUPLE else Object(tuple)


LOADED_TYPES: ClassTable[Callable[..., Optional[Type]]] = ClassTable({
    Abstract: _not_loaded,
    Const: _type_of_constant,
    Instance: _type_of_instance,
    Number: _type_of_typed,
    OpaqueObject: _type_of_opaque,
    Sequence: _type_of_tuple,
    Tensor: _type_of_typed,
    VirtualObject: _type_of_list,
})
"""The type with which a read loads a value, by the class of the value."""


def _tuple_type(items: SequenceType[Abstract], depth: int, tuples: int) -> Optional[Type]:
    kinds = [type_of(item, depth, tuples + 1) for item in items]
    return None if None in kinds else Holding(tuple, tuple(kinds))


def common_type(one: Optional[Type], other: Optional[Type]) -> Optional[Type]:
    """The most specific type that covers both, or None."""
    if isinstance(one, Array) and isinstance(other, Array):
        return one.join(other)
    if isinstance(one, Holding) and isinstance(other, Holding) and one.python is other.python is tuple:
        if len(one.items) != len(other.items):
            return Object(tuple)
        kinds = [common_type(a, b) for a, b in zip(one.items, other.items)]
        return None if None in kinds else Holding(tuple, tuple(kinds))
    if isinstance(one, (ListOf, Holding)) and isinstance(other, (ListOf, Holding)):
        if one.python is other.python is list:
            return list_of(common_type(one.items, other.items)) or Object(list)
    if isinstance(one, Object) and one == other and not is_like(one, other):
        return Object(one.python)
    return one if one is not None and one == other else None


def is_like(one: Optional[Type], other: Optional[Type]) -> bool:
    """Whether two types are equal, the expected types of their items included."""
    here, there = getattr(one, "items", None), getattr(other, "items", None)
    if not isinstance(here, tuple):
        return one == other and (here is there is None or is_like(here, there))
    return one == other and type(there) is tuple and len(here) == len(there) and all(map(is_like, here, there))


def nesting(kind: Optional[Type]) -> int:
    """The nesting depth of lists and tuples in items of this type."""
    items = getattr(kind, "items", None)
    if items is None:
        return 0
    return 1 + max(map(nesting, items if isinstance(items, tuple) else (items,)), default=0)


def list_like(items: SequenceType[Any], depth: int = 0) -> Optional[Object]:
    """The type of a list with items like these, or None where they have no type in common."""
    return list_like_values([abstract_of(item) for item in items], depth)


def list_like_values(items: SequenceType[Abstract], depth: int = 0) -> Optional[Object]:
    """As `list_like`, for abstract values."""
    kind = type_of(items[0], depth) if items else None
    for item in items[1:]:
        kind = common_type(kind, type_of(item, depth)) if kind is not None else None
    return list_of(kind)


def list_type(value: Abstract, depth: int = 0) -> Object:
    """The type of a list, with the known or expected type of its elements."""
    if isinstance(value, KnownContainer):
        return list_like_values(value.items, depth) or Object(list)
    if isinstance(value, Instance):
        return value.type
    some = LOOKED_AT if depth == 0 else LONGEST_TUPLE
    return (list_like(value.sample[:some], depth) if isinstance(value, OpaqueObject) else None) or Object(list)


def list_of(kind: Optional[Type]) -> Optional[Object]:
    """The type of a list whose elements are expected to have type ``kind``."""
    if kind is None:
        return None
    return ListOf(kind) if isinstance(kind, Scalar) else Holding(list, kind)
