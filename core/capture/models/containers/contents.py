"""Tuples, lists and dicts: items and lengths, read under guards where the container comes from outside.

An item that is read is fetched again whenever a segment starts. So the caller may change a container between calls,
and bytecode may change it between segments. A kernel never uses its old contents. The interpreter inherits
`Containers`.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.models.containers.deques import item_of_deque
from pijit.core.capture.models.containers.lexicographic_order import ORDERS, compare_in_order
from pijit.core.capture.models.containers.ranges import range_contains, range_item
from pijit.core.capture.models.numpy.library import named_items
from pijit.core.capture.models.objects.list_elements import list_element_items
from pijit.core.capture.models.objects.named_tuples import row_items, tuple_class
from pijit.core.capture.models.objects.special_methods import PLAIN, contains_special, is_object, rely_on_class
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import Keys
from pijit.core.capture.typing.result_types import PYTHON_OPERATORS
from pijit.core.capture.values.key_value_types import SETS
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Keywords,
    KnownContainer,
    ListElement,
    Number,
    OpaqueObject,
    Sequence,
    Slice,
    Tensor,
    class_of,
    number_type,
)
from pijit.core.capture.values.predicates import HasItem, HasLength, LacksItem
from pijit.core.capture.values.virtual_object import is_row, is_virtual_list
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, WORD, ListOf
from pijit.guards.facts import is_among, is_exactly, type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, Item, KeyAt, SourceError, is_plain_tuple, read_item

if TYPE_CHECKING:
    from typing import TypeGuard

ITEM_KEYS = (int, str)
UNORDERED = ("==", "!=")


def length_of(interpreter: Interpreter, value: Abstract) -> Optional[int]:
    """``len(value)`` of a tuple, list, dict or constant string; None for other values.
    A guard holds a length from outside."""
    if is_row(value):
        return len(row_items(interpreter, value))
    if isinstance(value, (Sequence, KnownContainer)) or is_virtual_list(value):
        return len(value.items)
    if isinstance(value, Const) and is_exactly(value.object, (tuple, str, bytes)):
        return len(value.object)
    if is_container(value):
        length = len(value.sample)
        interpreter.reading(_form(type(value.sample)), value)
        interpreter.rely(value, HasLength(length))
        return length
    return None


def items_of(interpreter: Interpreter, value: Abstract) -> Optional[List[Abstract]]:
    """All items of a tuple or list, or None if it is neither."""
    if is_row(value):
        return row_items(interpreter, value)
    if isinstance(value, Sequence) or isinstance(value, KnownContainer) and value.keys is None:
        return list(value.items)
    if is_virtual_list(value):
        return list(value.items)
    if isinstance(value, Const) and type(value.object) is tuple:
        return [Const(item) for item in value.object]
    if is_container(value) and type(value.sample) is not dict:
        return [interpreter.item(value, position) for position in range(interpreter.length_of(value) or 0)]
    if isinstance(value, ListElement) and issubclass(class_of(value) or object, tuple):
        return list_element_items(interpreter, value)
    return named_items(interpreter, value)


def item(interpreter: Interpreter, owner: OpaqueObject, key: Any) -> Abstract:
    """``owner[key]`` of a tuple, list or dict from outside."""
    location = interpreter.item_location(owner, key)
    if location is not None:
        return interpreter.read_location(location)
    found = _look(owner, key)
    if found is UNBOUND:
        raise _missing(key)
    if owner.root is None and owner.source is None:
        raise Break("PJ218")
    interpreter.reading(_family(type(owner.sample)), owner)
    source = Item(owner.source, key) if owner.source is not None else None
    root = Item(owner.root, key) if owner.root is not None else None
    return interpreter.known_object(found, source, root)


def key_at(interpreter: Interpreter, owner: Abstract, position: int) -> Const:
    """Key number ``position`` of a dict of known length, under a guard."""
    if isinstance(owner, KnownContainer):
        return Const(cast(Tuple[Any, ...], owner.keys)[position])
    if not isinstance(owner, OpaqueObject):  # one of several dicts
        raise Break("PJ209", type=describe(owner))
    interpreter.reading(Keys, owner)
    found = list(owner.sample)[position]
    if not is_exactly(found, ITEM_KEYS):
        raise Break("PJ205", index=type_name(type(found)))
    key = Const(found, KeyAt(owner.source, position) if owner.source is not None else None)
    key.root = KeyAt(owner.root, position) if owner.root is not None else None
    return key


def holds_item(interpreter: Interpreter, owner: Abstract, key: Any) -> bool:
    """Whether a container from outside has an item at this position or key, under a guard."""
    if isinstance(owner, KnownContainer):
        return _position(owner, key) is not None
    if not is_container(owner):
        raise Break("PJ203", operand=describe(owner))
    found = _look(owner, key) is not UNBOUND
    interpreter.reading(_form(class_of(owner)), owner)
    interpreter.rely(owner, HasItem(key) if found else LacksItem(key))
    return found


def is_true(interpreter: Interpreter, value: Abstract) -> bool:
    """The truth of an object that is not a number."""
    if isinstance(value, KnownContainer) or is_virtual_list(value):
        return len(value.items) > 0
    if is_row(value) and class_value(value.python, "__bool__") is UNBOUND:
        rely_on_class(interpreter, value, "__bool__", UNBOUND)
        return interpreter.length_of(value) != 0
    if is_container(value):
        if type(value.sample) is dict:
            return interpreter.length_of(value) != 0
        return interpreter.holds_item(value, 0)
    kind = class_of(value)
    if kind is None or any(class_value(kind, name) is not UNBOUND for name in ("__bool__", "__len__")):
        raise Break("PJ203", operand=describe(value))
    if is_object(value):
        rely_on_class(interpreter, value, "__bool__", UNBOUND)
        rely_on_class(interpreter, value, "__len__", UNBOUND)
    return True


def contains(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    """``value in owner`` of containers, strings, arrays and ranges."""
    found = contains_special(interpreter, owner, value)
    if found is not None:
        return found
    if class_of(owner) is str:
        return _string_contains(interpreter, owner, value)
    if isinstance(owner, Tensor) and owner.type.ndim:
        return _array_contains(interpreter, owner, value)
    if is_among(class_of(owner), (defaultdict, Counter)):
        return interpreter.has_key_now(owner, value)
    if class_of(owner) is range:
        return range_contains(interpreter, owner, value)
    if class_of(owner) is dict or is_among(class_of(owner), SETS) and not isinstance(owner, Const):
        key = interpreter.constant(value)
        if interpreter.is_changing(owner) or class_of(owner) is not dict or not is_exactly(key, ITEM_KEYS):
            return interpreter.has_key_now(owner, value)
        return Const(interpreter.holds_item(owner, key))
    if isinstance(owner, Const) and type(owner.object) is frozenset:
        if number_type(value) is None and not is_among(class_of(value), (str, bytes, type(None))):
            raise Break("PJ203", operand=describe(value))  # it may not be hashable
        items: Optional[List[Abstract]] = [Const(item) for item in owner.object]
    else:
        items = interpreter.items_of(owner) if interpreter.is_short(owner) else None
    if items is None:
        return _is_found(interpreter, owner, value)
    return _any(interpreter, [interpreter.same_or_equal(interpreter.use(item), value) for item in items])


def position_of(interpreter: Interpreter, owner: Abstract, value: Abstract, operation: str = "find_item") -> Value:
    """The first position of a value in a list or tuple as a WORD, -1 if it is absent.

    The operation ``count_items`` gives the number of its occurrences instead.
    """
    kind = number_type(value)
    if not is_among(class_of(owner), (list, tuple)) or kind is None and not isinstance(value, (Const, Instance)):
        raise Break("PJ203", operand=describe(owner))
    if value != Const(None):
        interpreter.require_key(value)
    operands = [interpreter.object_value(owner), interpreter.stored_value(value)]
    return interpreter.emit(operation, operands, WORD, exits=True)


def _is_found(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    zero = interpreter.emit("const", [], WORD, {"value": 0})
    flag = interpreter.emit("compare", [interpreter.position_of(owner, value), zero], FLAG, {"operator": ">="})
    return Number(BOOL, interpreter.emit("flag", [flag], BOOL))


def _array_contains(interpreter: Interpreter, owner: Tensor, value: Abstract) -> Abstract:
    """``value in array``: whether it equals any element."""
    equal = interpreter.compare("==", owner, value)
    found = interpreter.truth(interpreter.call(interpreter.attribute(equal, "any"), [], {}))
    return Number(BOOL, interpreter.emit("flag", [found], BOOL))


def _string_contains(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Abstract:
    if class_of(value) is not str:
        raise Break("PJ203", operand=describe(value))
    if isinstance(owner, Const) and isinstance(value, Const):
        return Const(value.object in owner.object)
    return interpreter.text_contains(owner, value)


def compare_objects(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """A comparison of plain constants, or of tuples and lists by their items; None for other values."""
    if is_plain(left) and is_plain(right):
        return _fold_comparison(symbol, left.object, right.object)
    kinds = tuple_class(interpreter, left), tuple_class(interpreter, right)
    if symbol in UNORDERED and isinstance(left, Const) and isinstance(right, Const) and _compare_plainly(kinds):
        return _fold_comparison(symbol, left.object, right.object)
    if symbol in ORDERS and kinds[0] is kinds[1] and is_among(kinds[0], (tuple, list)):
        return compare_in_order(interpreter, symbol, left, right)
    if symbol not in UNORDERED or not any(is_among(kind, (tuple, list)) for kind in kinds):
        return None
    if kinds[0] is not kinds[1] and all(is_among(kind, (tuple, list) + PLAIN) for kind in kinds):
        return Const(symbol == "!=")
    ones, others = interpreter.items_of(left), interpreter.items_of(right)
    if kinds[0] is not kinds[1] or not is_among(kinds[0], (tuple, list)) or ones is None or others is None:
        raise Break("PJ203", operand=describe(right))
    return _compare_items(interpreter, symbol, ones, others)


def _compare_items(interpreter: Interpreter, symbol: str, left: List[Abstract], right: List[Abstract]) -> Abstract:
    if len(left) != len(right):
        return Const(symbol == "!=")
    equal = [interpreter.same_or_equal(interpreter.use(one), interpreter.use(other)) for one, other in zip(left, right)]
    if symbol == "!=":
        return _any(interpreter, [interpreter.negated(answer) for answer in equal])
    return interpreter.negated(_any(interpreter, [interpreter.negated(answer) for answer in equal]))


def same_or_equal(interpreter: Interpreter, left: Abstract, right: Abstract) -> Abstract:
    """``left is right or left == right`` of plain values, as containers compare their items."""
    for value in (left, right):
        is_sequence = is_among(class_of(value), (tuple, list, str))
        if not is_plain(value) and number_type(value) is None and not is_sequence:
            raise Break("PJ203", operand=describe(value))
    kinds = [number_type(value) for value in (left, right)]
    constants = [value.object for value in (left, right) if isinstance(value, Const)]
    if not constants and all(kind is not None and kind.dtype.kind in "fc" for kind in kinds):
        interpreter.require_equal_to_itself(left)
    if any(constant != constant for constant in constants):
        raise Break("PJ203", operand="nan")
    if class_of(left) is class_of(right) is str:
        return interpreter.compare("==", left, right)
    sequences = all(is_among(class_of(value), (tuple, list)) for value in (left, right))
    if None in kinds and (is_plain(left) or is_plain(right)) and len(constants) < 2 and not sequences:
        return Const(False)
    return interpreter.compare("==", left, right)


def require_equal_to_itself(interpreter: Interpreter, value: Abstract) -> None:
    """Exit for a NaN, because containers find it by its identity."""
    number = interpreter.number_value(value)
    interpreter.emit("require", [interpreter.emit("compare", [number, number], FLAG, {"operator": "=="})], None,
                     exits=True)


def negated(interpreter: Interpreter, answer: Abstract) -> Abstract:
    """``not answer`` of a constant or a bool."""
    if isinstance(answer, Const):
        return Const(not answer.object)
    return Number(BOOL, interpreter.emit("flag", [interpreter.emit("not", [interpreter.truth(answer)], FLAG)], BOOL))


def _any(interpreter: Interpreter, answers: List[Abstract]) -> Abstract:
    """Whether one of these answers is true."""
    if any(isinstance(answer, Const) and answer.object for answer in answers):
        return Const(True)
    flags = [interpreter.truth(answer) for answer in answers if not isinstance(answer, Const)]
    if not flags:
        return Const(False)
    found = flags[0]
    for flag in flags[1:]:
        found = interpreter.emit("or", [found, flag], FLAG)
    return Number(BOOL, interpreter.emit("flag", [found], BOOL))


def container_item(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]`` of a tuple, list, dict or deque."""
    if isinstance(index, Slice) and class_of(owner) is not range:
        if class_of(owner) is list and not interpreter.is_short(owner):
            return interpreter.part_of_list(owner, index.parts)
        return interpreter.sliced(owner, slice(*[_bound(interpreter, part) for part in index.parts]))
    if class_of(owner) is range:
        return range_item(interpreter, owner, index)
    if isinstance(owner, Instance) and isinstance(owner.type, ListOf):
        return interpreter.list_item(owner, interpreter.word(index))
    fields = named_items(interpreter, owner)
    if fields is not None:
        return interpreter.container_item(interpreter.new_tuple(fields), index)
    if class_of(owner) is deque:
        return item_of_deque(interpreter, owner, index)
    if is_among(class_of(owner), (defaultdict, Counter)):
        return interpreter.read_now(owner, index)
    key = interpreter.constant(index)
    if isinstance(owner, Keywords):
        if type(key) is not str or key not in owner.items:
            raise Break("PJ205", index=describe(index))
        return owner.items[key]
    if _is_read_now(interpreter, owner, key, index):
        return interpreter.read_now(owner, index)
    if is_container(owner):
        return interpreter.item(owner, key)
    if isinstance(owner, KnownContainer):
        position = _position(owner, key)
        if position is None:
            raise Break("PJ205", index=describe(index))
        return owner.items[position]
    items = interpreter.items_of(owner)
    if items is None:
        raise Break("PJ205", object=describe(owner))
    if type(key) is not int or not -len(items) <= key < len(items):
        raise Break("PJ205", index=describe(index))
    return items[key]


def list_item(interpreter: Interpreter, owner: Instance, index: Value) -> Number:
    """``owner[index]`` of a list whose items are expected to be of one type."""
    kind = cast(ListOf, owner.type).items
    item = interpreter.emit("list_item", [interpreter.object_value(owner), index], kind, exits=True)
    return Number(kind, item)


def _is_read_now(interpreter: Interpreter, owner: Abstract, key: Any, index: Abstract) -> bool:
    """Whether the kernel reads an item at run time, because it is no heap location and guards do not hold it."""
    if class_of(owner) is dict:
        return interpreter.is_changing(owner) or not is_exactly(key, ITEM_KEYS)
    if key is None:
        kind, has_items = number_type(index), is_among(class_of(owner), (list, tuple)) or is_container(owner)
        return kind is not None and kind.dtype.kind in "iu" and has_items
    return interpreter.is_changing(owner) and interpreter.item_location(owner, key) is None


def _bound(interpreter: Interpreter, part: Abstract) -> Optional[int]:
    known: Optional[int] = interpreter.constant(part)
    if type(known) is not int and part != Const(None):
        raise Break("PJ205", index=describe(part))
    return known


def _position(owner: KnownContainer, key: Any) -> Optional[int]:
    """The position of an item in a list or dict that the function made; None if it is absent."""
    if not is_exactly(key, ITEM_KEYS):
        raise Break("PJ205", index=type_name(type(key)))
    if owner.keys is not None:
        return owner.keys.index(key) if key in owner.keys else None
    return key if type(key) is int and -len(owner.items) <= key < len(owner.items) else None


def _family(kind: Any) -> type:
    """What stands for the items of containers of a class where changes are recorded:
    list, dict, or tuple for containers that cannot change."""
    return kind if is_among(kind, (list, dict)) else tuple


def _form(kind: Any) -> type:
    """The same for the length and the keys of a container."""
    return Keys if kind is dict else _family(kind)


def is_container(value: Abstract) -> TypeGuard[OpaqueObject]:
    """Whether a value is a tuple, list or dict from outside whose items are read without user code."""
    return isinstance(value, OpaqueObject) and (is_exactly(value.sample, (list, dict)) or is_plain_tuple(value.sample))


def is_plain(value: Abstract) -> TypeGuard[Const]:
    """Whether a value is a constant whose comparison runs no user code."""
    return isinstance(value, Const) and (is_exactly(value.object, PLAIN)
                                         or type(value.object) is tuple and all(is_plain(Const(item))
                                                                                for item in value.object))


def _compare_plainly(kinds: Any) -> bool:
    """Whether constants of these classes compare by identity, or as dtypes do."""
    if any(issubclass(kind, np.dtype) for kind in kinds):
        return all(issubclass(kind, (np.dtype, str, type)) for kind in kinds)
    return all(class_value(kind, "__eq__") is object.__eq__ for kind in kinds)


def _look(owner: OpaqueObject, key: Any) -> Any:
    """The item that a container has during capture, or UNBOUND."""
    if not is_exactly(key, ITEM_KEYS):
        raise Break("PJ205", index=type_name(type(key)))
    try:
        return read_item(owner.sample, key)
    except SourceError:
        raise _missing(key)


def _missing(key: Any) -> Break:
    error = Break("PJ205", index=describe(Const(key)))
    error.passing = True
    return error


def _fold_comparison(symbol: str, left: Any, right: Any) -> Abstract:
    try:
        return Const(bool(PYTHON_OPERATORS[symbol](left, right)))
    except TypeError:
        raise Break("PJ203", operand=describe(Const(right)))
