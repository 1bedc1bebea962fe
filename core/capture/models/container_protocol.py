"""The protocol of the models of containers and strings, as far as other models use them: a part of `Interpreter`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple

from pijit.core.capture.values.lattice import Abstract, Const, Instance, KnownContainer, Number, OpaqueObject, Sequence
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object, Type

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # CPython 3.7 has none


class ContainerModels(Protocol):
    """Reads, changes and constructions of containers and strings."""

    def add_entries(self, owner: Abstract, more: Abstract) -> Abstract:
        """``owner.update(more)`` of two dicts, also as ``owner |= more``; the first one afterwards."""

    def as_object(self, value: Abstract) -> Abstract:
        """A value in the form in which more than the operand stack can hold it."""

    def changing_container(self, owner: Abstract, resized: bool = True) -> None:
        """Record a change of a container that is no store at a known position of a list."""

    def compare_objects(self, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """A comparison of plain constants, or of tuples and lists by their items; None for other values."""

    def compare_texts(self, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """A comparison of two strings by their characters; None for orderings of longer strings."""

    def container_item(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]`` of a tuple, list, dict or deque."""

    def contains(self, owner: Abstract, value: Abstract) -> Abstract:
        """``value in owner`` of containers, strings, arrays and ranges."""

    def copied(self, owner: Abstract) -> Abstract:
        """A new list of all items of a list."""

    def decides_loop_by(self, owner: Abstract) -> bool:
        """Whether the truth of a container decides here if a loop continues; the loop may well change the container."""

    def effect(self, name: str, owner: Abstract, operands: List[Value], resized: bool = True) -> None:
        """An operation that changes a container and gives no value."""

    def entries_expected(self, value: Abstract, what: str) -> Optional[Object]:
        """Expected types of the keys and values of a dict that is iterated natively."""

    def expect_like(self, default: Abstract) -> None:
        """Expect an item of the default's type; Break where earlier runs had another type."""

    def expected(self, owner: Abstract, key: Any) -> Abstract:
        """A value of the type that an item probably has; ``key`` is its key if that is known, else None."""

    def found(self, name: str, operands: List[Value], like: Abstract) -> Abstract:
        """The result of a read operation as a value like ``like``."""

    def get_now(self, owner: Abstract, index: Abstract, default: Abstract) -> Abstract:
        """``owner.get(index, default)`` of a dict that changes: the item must be of the default's type."""

    def has_key_now(self, owner: Abstract, index: Abstract) -> Abstract:
        """``index in owner`` of a dict or set that changes, or of any computed key."""

    def holds_item(self, owner: Abstract, key: Any) -> bool:
        """Whether a container from outside has an item at this position or key, under a guard."""

    def is_changing(self, owner: Abstract) -> bool:
        """Whether the contents of a container are known only at run time."""

    def is_dropped(self) -> bool:
        """Whether the next instruction drops what this one pushes."""

    def is_resized(self, owner: Abstract) -> bool:
        """Whether captured code may change which keys a dict has."""

    def is_short(self, value: Abstract) -> bool:
        """Whether all items of a tuple or list are known or can be guarded one by one."""

    def is_true(self, value: Abstract) -> bool:
        """The truth of an object that is not a number."""

    def item(self, owner: OpaqueObject, key: Any) -> Abstract:
        """``owner[key]`` of a tuple, list or dict from outside."""

    def item_of_list(self, owner: Instance, index: Value) -> Abstract:
        """The item at a WORD index of a list that has an expected item type."""

    def item_of_text(self, owner: Instance, index: Value) -> Abstract:
        """The item at a WORD index that is in range."""

    def item_operands(self, owner: Abstract, index: Abstract) -> List[Value]:
        """The operands that name an item of a list or tuple by position, or of a dict by its key."""

    def items_expected(self, value: Abstract) -> Optional[Object]:
        """Expected type of a list that is iterated natively; None for other values and for short lists of known items.
        """

    def items_of(self, value: Abstract) -> Optional[List[Abstract]]:
        """All items of a tuple or list, or None if it is neither."""

    def key_at(self, owner: Abstract, position: int) -> Const:
        """Key number ``position`` of a dict of known length, under a guard."""

    def key_value(self, index: Abstract) -> Value:
        """The key of a dict or the member of a set as an operand: a number, a string, or a tuple of these."""

    def keyed(self, name: str, owner: Abstract, index: Abstract) -> Tuple[str, List[Value]]:
        """Name and operands of an operation on an item of a dict; a computed int needs no object."""

    def length_now(self, owner: Abstract) -> Abstract:
        """``len(owner)`` of a container that changes."""

    def length_of(self, value: Abstract) -> Optional[int]:
        """``len(value)`` of a tuple, list, dict or constant string; None for other values. A guard holds a length from
        outside."""

    def lengthen(self, owner: Abstract, more: Abstract) -> Abstract:
        """``owner += more`` of a list; the list afterwards."""

    def list_item(self, owner: Instance, index: Value) -> Number:
        """``owner[index]`` of a list whose items are expected to be of one type."""

    def made_text(self, function: str, arguments: List[Abstract], kind: Type = ...) -> Abstract:
        """The result of a function of numbers and strings; a constant if all of them are known."""

    def members_expected(self, value: Abstract) -> Optional[Object]:
        """Expected type of the members of a set that is iterated; None for other values."""

    def moving(self, owner: Abstract) -> None:
        """Record that items of a list come, go or change at unknown positions: none of them is a heap location."""

    def multiply(self, owner: Abstract, count: Abstract) -> Abstract:
        """``owner *= count`` of a list; the list afterwards."""

    def negated(self, answer: Abstract) -> Abstract:
        """``not answer`` of a constant or a bool."""

    def new_dict(self, keys: List[Any], values: List[Abstract]) -> KnownContainer:
        """A new dict of these keys, each an int or a string, and values."""

    def new_list(self, items: List[Abstract]) -> KnownContainer:
        """A new list of these values."""

    def new_set(self, items: List[Abstract]) -> Instance:
        """A new set of these values."""

    def new_tuple(self, items: List[Abstract]) -> Sequence:
        """A new tuple of these values. One with slices is an index and one of cells is a closure; these are no objects.
        """

    def of_sequences(self, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """An operator on tuples, lists or sets; None for other operands."""

    def of_texts(self, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """``+``, ``%`` or a comparison of strings; None for other operators and operands."""

    def part_of_list(self, owner: Abstract, parts: Any) -> Abstract:
        """``owner[start:stop:step]`` of a list whose items are not known one by one; the bounds are integers or None.
        """

    def position_of(self, owner: Abstract, value: Abstract, operation: str = "find_item") -> Value:
        """The first position of a value in a list or tuple as a WORD, -1 if it is absent."""

    def read_now(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``, read at run time."""

    def remove(self, owner: Abstract, index: Abstract) -> None:
        """``del owner[index]``."""

    def require_equal_to_itself(self, value: Abstract) -> None:
        """Exit for a NaN, because containers find it by its identity."""

    def require_key(self, value: Abstract) -> None:
        """Break unless dicts and sets find a value by its value, without user code. Exit for NaN, which they find by
        its identity."""

    def same_or_equal(self, left: Abstract, right: Abstract) -> Abstract:
        """``left is right or left == right`` of plain values, as containers compare their items."""

    def sliced(self, owner: Abstract, part: slice) -> Abstract:
        """``owner[part]`` of a tuple or list; all of a tuple is the tuple itself."""

    def store_byte(self, owner: Abstract, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` of a bytearray."""

    def store_key(self, owner: Abstract, index: Abstract, value: Abstract) -> None:
        """``owner[index] = value`` of a dict."""

    def text_contains(self, owner: Abstract, part: Abstract) -> Abstract:
        """``part in owner`` of strings."""

    def text_item(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""

    def text_length(self, value: Abstract) -> Number:
        """``len(value)``."""

    def text_object(self, value: Abstract) -> Value:
        """The object of a string or bytes. From now on the value is known by its class alone."""

    def typed_item(self, name: str, owner: Value, index: Value, kind: Type) -> Abstract:
        """The result of a read operation as a value of this type; of a tuple all items are read as well."""
