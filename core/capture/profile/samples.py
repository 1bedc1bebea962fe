"""Samples of long lists: capture examines some elements, and reads are compiled for objects like them.

Samples are expectations only: compiled code checks the class of each object that it takes, and the type of each
attribute.
"""

from __future__ import annotations

import types
from typing import Any, Dict, Hashable, Iterable, List, Optional, Sequence, Set, Tuple

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import LOCAL_STORES, RETURNS, STACK_MOVES
from pijit.core.capture.state.uncaptured_effects import pops
from pijit.core.capture.values.element_types import LONGEST_TUPLE, LOOKED_AT, list_like
from pijit.core.capture.values.lattice import Abstract, ListElement, LoopIterator
from pijit.core.graph.types import Entries, Holding, ListOf, SampledClass, Type
from pijit.core.named_tuples import NamedTuple
from pijit.guards._evaluate import attribute_rule
from pijit.guards.reading import class_value, dict_item, read_attribute
from pijit.guards.source import UNBOUND, is_plain_tuple

NEVER_SAMPLED = (tuple, list, dict, set, frozenset, str, bytes, int, float, complex, type, types.ModuleType,
             types.FunctionType, np.ndarray, np.generic, BaseException)
HANDING_ON = STACK_MOVES | LOCAL_STORES | RETURNS
"""Instructions that bytecode executes equally well for an object of unknown type; they reject no samples."""
ENOUGH = 64
"""The number of objects that are sampled for the type of an attribute."""


class Unlike(Exception):
    """Raised when an instruction with a list element as operand stays bytecode; capture starts again without these."""


class Some(NamedTuple):
    """Sampled objects, and the iteration or subscript at which they were found."""

    samples: List[Any]
    found_by: Hashable


class TypeSamples:
    """The samples of one capture, by number.

    ``unlike`` holds the iterations, subscripts and ids of classes whose objects are no longer sampled. ``stored`` holds
    the types that captured code stores into attributes of a class where they differ from the sampled ones.
    """

    __slots__ = ("some", "kinds", "unlike", "stored")

    def __init__(self) -> None:
        self.some: List[Some] = []
        self.kinds: Dict[Tuple[int, str], Optional[Type]] = {}
        self.unlike: Set[Hashable] = set()
        self.stored: Dict[Tuple[int, str], Type] = {}

    def element_type(self, samples: Sequence[Any], found_by: Hashable) -> Optional[SampledClass]:
        """The type of list elements like these, or None."""
        some = list(samples[:LOOKED_AT])
        if not some or found_by in self.unlike or not all(map(_is_element, some)):
            return None
        kind, number = type(some[0]), len(self.some)
        self.some.append(Some(some[:ENOUGH], found_by))
        return SampledClass(kind if all(type(one) is kind for one in some) else None, number)

    def allows(self, kind: SampledClass) -> bool:
        """Whether elements like these may still be used."""
        return self._found_by(kind) not in self.unlike

    def _found_by(self, kind: SampledClass) -> Hashable:
        return self.some[kind.sampled].found_by if type(kind.sampled) is int else id(kind.python)

    def entries(self, samples: Sequence[Any], found_by: Hashable) -> Entries:
        """The type of dicts like these."""
        self.some.append(Some(list(samples[:ENOUGH]), found_by))
        return Entries(len(self.some) - 1)

    def entries_like(self, number: int, key: Any) -> List[Any]:
        """The values under a key in the sampled dicts of a number."""
        held = [dict_item(one, key) for one in self.some[number].samples]
        return [value for value in held if value is not UNBOUND]

    def attribute(self, kind: SampledClass, name: str) -> Optional[Type]:
        """The type of an attribute of these objects. None where reading it runs code, or where there is no common type.
        """
        if (id(kind.python), name) in self.stored:
            return self.stored[id(kind.python), name]
        number = kind.sampled
        if not isinstance(number, int):
            own = class_value(kind.python, name) if name not in number else UNBOUND
            plain = own is not UNBOUND and class_value(type(own), "__get__") is UNBOUND
            return self._kind_of([own], id(kind.python)) if plain else number.get(name)
        key = number, name
        if key not in self.kinds:
            held = [read_attribute(one, name) for one in self.some[number].samples]
            self.kinds[key] = self._kind_of(held, self.some[number].found_by)
        return self.kinds[key]

    def items(self, kind: SampledClass) -> Optional[List[Type]]:
        """The types of the items of these named tuples. None where an item has no common type, or where lengths differ.
        """
        some = self.some[kind.sampled] if type(kind.sampled) is int and issubclass(kind.python, tuple) else None
        if some is None or len(set(map(len, some.samples))) != 1:
            return None
        kinds = [self._kind_of(list(column), some.found_by) for column in zip(*some.samples)]
        return None if None in kinds else kinds  # type: ignore[return-value]

    def store(self, kind: SampledClass, name: str, stored: Optional[Type]) -> None:
        """Note that captured code stores a value of a type, which later reads find."""
        if stored is not None and kind.python is not None and self.attribute(kind, name) != stored:
            self.stored.setdefault((id(kind.python), name), stored)

    def _kind_of(self, held: List[Any], found_by: Hashable) -> Optional[Type]:
        if any(one is UNBOUND for one in held):
            return None
        kind: Optional[Type] = self.element_type(held, found_by)
        if kind is None and all(type(one) is list for one in held):
            inner = self.element_type([item for one in held for item in one[:ENOUGH]], found_by)
            kind = Holding(list, inner) if inner is not None else None
        if kind is not None:
            return kind
        alike = list_like(held)
        return alike.items if isinstance(alike, (ListOf, Holding)) else None

    def reject(self, instr: Instr, stack: List[Abstract]) -> None:
        """Note that an instruction stays bytecode: list elements among its operands are no longer sampled. Raises
        Unlike."""
        count = 0 if instr.opname in HANDING_ON else pops(instr)
        taken = stack[-count:] if count else stack if count is None else []
        found = {self._found_by(kind) for value in taken for kind in _elements_in(value)} - self.unlike
        if found:
            self.unlike |= found
            raise Unlike

    def forget(self) -> None:
        """Drop references to the user's objects."""
        self.some, self.kinds = [], {}


def _elements_in(value: Abstract) -> Iterable[SampledClass]:
    if isinstance(value, ListElement):
        yield value.type
    for part in value.lasting_parts:
        kind = getattr(part, "type", None)
        if isinstance(value, LoopIterator) and isinstance(kind, Holding) and isinstance(kind.items, SampledClass):
            yield kind.items
        yield from _elements_in(part)


def _is_element(sample: Any) -> bool:
    if attribute_rule(sample) != "instance":
        return False
    is_short_tuple = type(sample) is not tuple and is_plain_tuple(sample) and 0 < len(sample) <= LONGEST_TUPLE
    return is_short_tuple or not issubclass(type(sample), NEVER_SAMPLED)


def is_stored_in_elements(changed: Any, kind: type, name: Any) -> bool:
    """Whether captured code stores this attribute into list elements that may be of this very class."""
    return (ListElement, name) in changed or ((ListElement, name), id(kind)) in changed
