"""Tuples, lists and dicts: items and lengths, read under guards where the container comes from outside.

An item that is read is fetched again whenever a segment starts. So the caller may change a container between calls,
and bytecode may change it between segments. A kernel never uses its old contents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.models.containers import expectations
from pijit.core.capture.models.containers.expectations import ITEM_KEYS, typed
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_paths, rely_on_class
from pijit.core.capture.models.objects.special_methods import PLAIN, is_object
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.heap_locations import Keys
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import (
    IMMUTABLE_BY_VALUE,
    Abstract,
    Const,
    Instance,
    KnownContainer,
    ListElement,
    Number,
    OpaqueObject,
    Sequence,
    class_of,
    number_type,
    scalar_type,
)
from pijit.core.capture.values.predicates import HasItem, HasLength, Holds, LacksItem
from pijit.core.capture.values.virtual_object import VirtualObject, is_virtual_list, is_virtual_tuple
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, WORD, Holding, ListOf
from pijit.guards.facts import is_among, is_exactly, type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, Item, KeyAt, SourceError, is_plain_tuple, read_item

if TYPE_CHECKING:
    from typing import TypeGuard


def length_of(interpreter: Interpreter, value: Abstract) -> Optional[int]:
    """``len(value)`` of a tuple, list, dict or constant string; None for other values.
    A guard holds a length from outside."""
    if is_virtual_tuple(value):
        return len(virtual_tuple_items(interpreter, value))
    if isinstance(value, (Sequence, KnownContainer)) or is_virtual_list(value):
        return len(value.items)
    if isinstance(value, Const) and is_exactly(value.object, (tuple, str, bytes)):
        return len(value.object)
    if is_container(value):
        length = len(value.sample)
        locations.reading(interpreter, _form(type(value.sample)), value)
        interpreter.rely(value, HasLength(length))
        return length
    return None


def items_of(interpreter: Interpreter, value: Abstract) -> Optional[List[Abstract]]:
    """All items of a tuple or list, or None if it is neither."""
    if is_virtual_tuple(value):
        return virtual_tuple_items(interpreter, value)
    if isinstance(value, Sequence) or isinstance(value, KnownContainer) and value.keys is None:
        return list(value.items)
    if is_virtual_list(value):
        return list(value.items)
    if isinstance(value, Const) and type(value.object) is tuple:
        return [Const(one) for one in value.object]
    if is_container(value) and type(value.sample) is not dict:
        return [item(interpreter, value, position) for position in range(length_of(interpreter, value) or 0)]
    if isinstance(value, ListElement) and issubclass(class_of(value) or object, tuple):
        return list_element_items(interpreter, value)
    return named_items(interpreter, value)


def item(interpreter: Interpreter, owner: OpaqueObject, key: Any) -> Abstract:
    """``owner[key]`` of a tuple, list or dict from outside."""
    location = locations.item_location(interpreter, owner, key)
    if location is not None:
        return locations.read_location(interpreter, location)
    found = _look(owner, key)
    if found is UNBOUND:
        raise _missing(key)
    if owner.root is None and owner.source is None:
        raise Break("PJ218")
    locations.reading(interpreter, _family(type(owner.sample)), owner)
    source = Item(owner.source, key) if owner.source is not None else None
    root = Item(owner.root, key) if owner.root is not None else None
    return locations.known_object(interpreter, found, source, root)


def key_at(interpreter: Interpreter, owner: Abstract, position: int) -> Const:
    """Key number ``position`` of a dict of known length, under a guard."""
    if isinstance(owner, KnownContainer):
        return Const(cast(Tuple[Any, ...], owner.keys)[position])
    if not isinstance(owner, OpaqueObject):  # one of several dicts
        raise Break("PJ209", type=describe(owner))
    locations.reading(interpreter, Keys, owner)
    found = list(owner.sample)[position]
    if not is_exactly(found, ITEM_KEYS):
        raise Break("PJ205", index=type_name(type(found)))
    key = Const(found, KeyAt(owner.source, position) if owner.source is not None else None)
    key.root = KeyAt(owner.root, position) if owner.root is not None else None
    return key


def holds_item(interpreter: Interpreter, owner: Abstract, key: Any) -> bool:
    """Whether a container from outside has an item at this position or key, under a guard."""
    if isinstance(owner, KnownContainer):
        return known_position(owner, key) is not None
    if not is_container(owner):
        raise Break("PJ203", operand=describe(owner))
    found = _look(owner, key) is not UNBOUND
    locations.reading(interpreter, _form(class_of(owner)), owner)
    interpreter.rely(owner, HasItem(key) if found else LacksItem(key))
    return found


def is_true(interpreter: Interpreter, value: Abstract) -> bool:
    """The truth of an object that is not a number."""
    if isinstance(value, KnownContainer) or is_virtual_list(value):
        return len(value.items) > 0
    if is_virtual_tuple(value) and class_value(value.python, "__bool__") is UNBOUND:
        rely_on_class(interpreter, value, "__bool__", UNBOUND)
        return length_of(interpreter, value) != 0
    if is_container(value):
        if type(value.sample) is dict:
            return length_of(interpreter, value) != 0
        return holds_item(interpreter, value, 0)
    kind = class_of(value)
    if kind is None or any(class_value(kind, name) is not UNBOUND for name in ("__bool__", "__len__")):
        raise Break("PJ203", operand=describe(value))
    if is_object(value):
        rely_on_class(interpreter, value, "__bool__", UNBOUND)
        rely_on_class(interpreter, value, "__len__", UNBOUND)
    return True


def same_or_equal(interpreter: Interpreter, left: Abstract, right: Abstract) -> Abstract:
    """``left is right or left == right`` of plain values, as containers compare their items."""
    for value in (left, right):
        if not compares_plainly(value):
            raise Break("PJ203", operand=describe(value))
    kinds = [number_type(value) for value in (left, right)]
    constants = [value.object for value in (left, right) if isinstance(value, Const)]
    if not constants and all(kind is not None and kind.dtype.kind in "fc" for kind in kinds):
        require_equal_to_itself(interpreter, left)
    if any(constant != constant for constant in constants):
        raise Break("PJ203", operand="nan")
    if class_of(left) is class_of(right) is str:
        return interpreter.compare("==", left, right)
    sequences = all(is_among(class_of(value), (tuple, list)) for value in (left, right))
    if None in kinds and (is_plain(left) or is_plain(right)) and len(constants) < 2 and not sequences:
        return Const(False)
    return interpreter.compare("==", left, right)


def compares_plainly(value: Abstract) -> bool:
    """Whether a value is a number, a string, a tuple, a list or another plain value."""
    return is_plain(value) or number_type(value) is not None or is_among(class_of(value), (tuple, list, str))


def require_equal_to_itself(interpreter: Interpreter, value: Abstract) -> None:
    """Exit for a NaN, because containers find it by its identity."""
    number = interpreter.number_value(value)
    interpreter.emit("require", [interpreter.emit("compare", [number, number], FLAG, {"operator": "=="})], None,
                     exits=True)


def list_item(interpreter: Interpreter, owner: Instance, index: Value) -> Number:
    """``owner[index]`` of a list whose items are expected to be of one type."""
    kind = cast(ListOf, owner.type).items
    item = interpreter.emit("list_item", [interpreter.object_value(owner), index], kind, exits=True)
    return Number(kind, item)


def known_position(owner: KnownContainer, key: Any) -> Optional[int]:
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


def compare_plainly(kinds: Any) -> bool:
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


def is_short(interpreter: Interpreter, value: Abstract) -> bool:
    """Whether all items of a tuple or list are known or can be guarded one by one."""
    if class_of(value) is dict:
        return False
    if is_container(value):
        return (len(value.sample) <= interpreter.context.unrolling
                and not expectations.is_changing(interpreter, value))
    known = isinstance(value, (Sequence, KnownContainer)) or is_virtual_tuple(value) or is_virtual_list(value)
    return known or isinstance(value, Const) and type(value.object) is tuple


OWN_READS = ("__getitem__", "__len__", "__iter__")


def virtual_tuple_items(interpreter: Interpreter, value: VirtualObject) -> List[Abstract]:
    """The items of a virtual tuple whose class reads them as tuples do."""
    for name in OWN_READS:
        if class_value(value.python, name) is not tuple.__dict__[name]:
            raise Break("PJ203", operand=describe(value))
        rely_on_class(interpreter, value, name, tuple.__dict__[name])
    return list(value.items)


def named_items(interpreter: Interpreter, value: Abstract) -> Optional[List[Abstract]]:
    """The items of a named tuple that a library function returned; None for other values."""
    kind = value.type if isinstance(value, Instance) else None
    if not isinstance(kind, Holding) or kind.python is tuple or not issubclass(cast(type, kind.python), tuple):
        return None
    made = interpreter.object_value(value)
    return [typed(item, interpreter.emit("item", [made], item, {"index": k}, exits=True))
            for k, item in enumerate(kind.items)]


def list_element_items(interpreter: Interpreter, owner: ListElement, only: Optional[int] = None) -> List[Abstract]:
    """The items of a named tuple in a list, or one of them."""
    kinds, python = interpreter.context.base.types.samples.items(owner.type), owner.type.python
    if kinds is None or only is not None and only >= len(kinds):
        raise Break("PJ213")
    for name in ("__getitem__", "__iter__"):
        interpreter.rely(class_paths(interpreter, owner), Holds(name, class_value(python, name)))
    found = interpreter.object_value(owner)
    words = [interpreter.emit("const", [], WORD, {"value": k}) for k in range(len(kinds) + 1)]
    size = interpreter.emit("list_size", [found], WORD)
    interpreter.emit("require", [interpreter.emit("compare", [size, words[-1]], FLAG, {"operator": "=="})], None,
                     exits=True)
    wanted = range(len(kinds)) if only is None else (only,)
    return [expectations.typed_item(interpreter, "load_item", found, words[k], kinds[k]) for k in wanted]


def known_truth(interpreter: Interpreter, value: Abstract) -> Optional[bool]:
    """``bool(value)`` when it is certain at capture time."""
    if isinstance(value, Const):
        if is_exactly(value.object, IMMUTABLE_BY_VALUE) or scalar_type(value.object) is not None:
            return bool(value.object)
        return len(value.object) > 0 if type(value.object) is tuple else is_true(interpreter, value)
    if isinstance(value, Sequence):
        return bool(value.items)
    if (not (isinstance(value, KnownContainer) or is_object(value)) or expectations.is_changing(interpreter, value)
            or expectations.decides_loop_by(interpreter, value)):
        return None
    return is_true(interpreter, value)
