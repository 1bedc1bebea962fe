"""Expected types of keys and values of dicts, and of members of sets, that the function has made.

The types are expectations only: each read checks what it finds. So nothing is invalidated where the container may have
changed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import islice
from typing import Any, Iterable, Optional, Tuple

from pijit.core.capture.values.element_types import LOOKED_AT, common_type, list_like, type_of
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    KnownContainer,
    OpaqueObject,
    Sequence,
    class_of,
)
from pijit.core.graph.types import Holding, Object, Type, Vacant
from pijit.guards.facts import is_among

SETS = (set, frozenset)
ENTERED = (dict, defaultdict, Counter) + SETS
EntryTypes = Optional[Tuple[Optional[Type], ...]]
"""One type for the members of a set, two for keys and values of a dict. None: no expectation; (): empty so far."""


def entry_kind(value: Abstract) -> Optional[Type]:
    """The type with which a read loads a key, a member or a value."""
    if class_of(value) is str:
        return Object(str)
    if isinstance(value, Const) and type(value.object) is tuple:
        value = Sequence(list(map(Const, value.object)))
    return type_of(value)


def kinds_of_entries(value: Abstract) -> EntryTypes:
    """The known or expected entry types of a dict or set, or None."""
    if isinstance(value, KnownContainer) and value.keys is not None:
        keys = map(Const, value.keys)
        return (common_kind(keys), common_kind(value.items)) if value.items else ()
    if isinstance(value, Instance) and isinstance(value.type, (Holding, Vacant)):
        return value.type.items if is_among(value.type.python, ENTERED) else None
    return None


def expected_entries(value: Abstract) -> Object:
    """The type of a dict or set with its expected entry types. Those of an object from outside come from a sample."""
    if isinstance(value, OpaqueObject):
        views = [value.sample] if is_among(type(value.sample), SETS) else [value.sample, value.sample.values()]
        return type_like(type(value.sample), *[list(islice(view, LOOKED_AT)) for view in views])
    return type_with_entries(class_of(value), kinds_of_entries(value))  # type: ignore[arg-type]


def common_kind(values: Iterable[Abstract]) -> Optional[Type]:
    """The type that covers these values, or None."""
    kinds = [entry_kind(value) for value in values]
    kind = kinds[0]
    for other in kinds[1:]:
        kind = common_type(kind, other)
    return kind


def joined_kinds(one: EntryTypes, other: EntryTypes) -> EntryTypes:
    """The entry types that cover both."""
    if one is None or other is None:
        return None
    return tuple(common_type(a, b) for a, b in zip(one, other)) if one and other else one or other


def type_with_entries(python: type, kinds: EntryTypes) -> Object:
    """The type of a dict or set with these entry types."""
    if kinds == ():
        return Vacant(python)
    return Object(python) if kinds is None or set(kinds) == {None} else Holding(python, kinds)


def type_of_set(items: Iterable[Abstract]) -> Object:
    """The type of a set of these values."""
    items = list(items)
    return type_with_entries(set, (common_kind(items),) if items else ())


def type_like(python: type, *samples: Iterable[Any]) -> Object:
    """The type of a dict or set, derived from samples of its keys and values, or of its members."""
    looked_at = list(map(list, samples))
    kinds = tuple(getattr(list_like(items), "items", None) for items in looked_at)
    return type_with_entries(python, kinds if looked_at[0] else ())
