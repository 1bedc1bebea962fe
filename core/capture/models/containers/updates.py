"""Effects on lists, dicts and sets: instructions and methods that change them, done at once.

Instructions that store and delete items call it, and `catalogue` imports it. No exit may follow an effect here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, List, Optional, Set

from pijit.core.capture.models.containers import (
    comparisons,
    constructions,
    container_effects,
    contents,
    expectations,
    key_operands,
    reads,
)
from pijit.core.capture.models.containers.counter_class import rely_if_counter
from pijit.core.capture.models.containers.deques import row_of, taken_tuple
from pijit.core.capture.models.containers.expectations import ITEM_KEYS, KEYED
from pijit.core.capture.models.containers.item_reads import made_by
from pijit.core.capture.models.containers.slices import delete_part, listed
from pijit.core.capture.models.iteration.consumers import call_dict
from pijit.core.capture.models.iteration.list_safety import sees_no_list
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.instances import as_left
from pijit.core.capture.models.objects.materialize import change_virtual_object
from pijit.core.capture.models.objects.named_tuples import require_holdable
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.models.scalars import conversions
from pijit.core.capture.state.frame_state import expect, expect_entry, item_kinds, lengthened, loosen
from pijit.core.capture.state.heap_locations import identity_of
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.key_value_types import entry_kind, kinds_of_entries
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    OpaqueObject,
    Slice,
    Unrolled,
    class_of,
    number_type,
    pointer_class,
)
from pijit.core.capture.values.virtual_object import is_virtual_list
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import FLAG, INT, WORD, Object, Type
from pijit.guards.facts import is_among, is_exactly
from pijit.guards.source import UNBOUND, read_item


def store_key(interpreter: Interpreter, owner: Abstract, index: Abstract, value: Abstract) -> None:
    """``owner[index] = value`` of a dict."""
    rely_if_counter(interpreter, owner, "__setitem__")
    name, operands = key_operands.keyed(interpreter, "store_key", owner, index)
    expect_entry(interpreter.state, owner, (entry_kind(index), entry_kind(value)))
    container_effects.effect(interpreter, name, owner, operands + [stored_values.stored_value(interpreter, value)],
                             not _is_loops_key(interpreter, owner, index))


def _is_loops_key(interpreter: Interpreter, owner: Abstract, index: Abstract) -> bool:
    """Whether a dict has this key while a loop here steps through its keys; a guard holds the key."""
    loops = [loop for value in interpreter.state.stack for loop in _loops_in(value)]
    key = interpreter.constant(index)
    return (is_exactly(key, ITEM_KEYS) and not expectations.is_resized(interpreter, owner)
            and any(identity_of(loop.owner) == identity_of(owner) is not None for loop in loops)
            and contents.holds_item(interpreter, owner, key))


def remove(interpreter: Interpreter, owner: Abstract, index: Abstract) -> None:
    """``del owner[index]``."""
    if pointer_class(owner) is list and isinstance(index, Slice):
        delete_part(interpreter, owner, index)
        return
    of_keys = is_among(pointer_class(owner), KEYED)
    if not of_keys and pointer_class(owner) is not list:
        raise Break("PJ205", object=describe(owner))
    rely_if_counter(interpreter, owner, "__delitem__", "__contains__")
    name = "discard_key" if class_of(owner) is Counter else "delete_key" if of_keys else "delete_item"
    container_effects.effect(interpreter, name, owner, key_operands.item_operands(interpreter, owner, index))


def lengthen(interpreter: Interpreter, owner: Abstract, more: Abstract) -> Abstract:
    """``owner += more`` of a list; the list afterwards."""
    more = listed(interpreter, more)
    more_kinds: Set[Optional[Type]] = item_kinds(more) if class_of(more) is list else {None}
    owner, before = lengthened(owner, more_kinds), owner
    for kind in more_kinds:
        expect(interpreter.state, before, kind)
    container_effects.effect(interpreter, "extend", owner,
                             [interpreter.object_value(owner), interpreter.object_value(more)])
    return owner


def multiply(interpreter: Interpreter, owner: Abstract, count: Abstract) -> Abstract:
    """``owner *= count`` of a list; the list afterwards."""
    if number_type(count) != INT:
        raise Break("PJ203", operand=describe(count))
    operands = [interpreter.object_value(owner), interpreter.number_value(count)]
    made, whole = (made_by(interpreter, "operator.mul", list_type(owner), operands),
                   interpreter.object_value(Const(slice(None))))
    owner = lengthened(owner, item_kinds(owner))
    container_effects.effect(interpreter, "store_slice", owner,
                             [interpreter.object_value(owner), whole, interpreter.object_value(made)])
    return owner


def add_entries(interpreter: Interpreter, owner: Abstract, more: Abstract) -> Abstract:
    """``owner.update(more)`` of two dicts, also as ``owner |= more``; the first one afterwards."""
    if class_of(more) is not dict:
        raise Break("PJ203", operand=describe(more))
    expect_entry(interpreter.state, owner, kinds_of_entries(more))
    container_effects.effect(interpreter, "update", owner,
                             [interpreter.object_value(owner), interpreter.object_value(more)])
    return owner.forgotten()


def _loops_in(value: Abstract) -> List[Unrolled]:
    found = [value] if isinstance(value, Unrolled) else []
    return found + [loop for part in value.lasting_parts for loop in _loops_in(part)]


@models(list, "append")
def _append(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.append(value)``."""
    only(arguments, keywords, "append", 2)
    owner, item = arguments
    if is_virtual_list(owner):
        require_holdable(item)
        stored = owner.holding(str(len(owner.items)), constructions.as_object(interpreter, item))
        change_virtual_object(interpreter, owner.token, as_left(stored))
        return Const(None)
    loosen(interpreter.state, *arguments)
    operands = [interpreter.object_value(arguments[0]), stored_values.stored_value(interpreter, arguments[1])]
    container_effects.effect(interpreter, "append", arguments[0], operands)
    return Const(None)


@models(list, "insert")
def _insert(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.insert(index, value)``."""
    only(arguments, keywords, "insert", 3)
    owner, index, value = arguments
    loosen(interpreter.state, owner, value)
    container_effects.effect(interpreter, "insert", owner,
                             [interpreter.object_value(owner), interpreter.word(index),
                              stored_values.stored_value(interpreter, value)])
    return Const(None)


@models(list, "extend")
def _extend(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.extend(more)``: the same as ``xs += more``."""
    only(arguments, keywords, "extend", 2)
    lengthen(interpreter, *arguments)
    return Const(None)


@models((list, dict), "pop")
def _pop(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``list.pop()``, ``list.pop(index)``, ``dict.pop(key)`` and ``dict.pop(key, default)``.

    A list or dict that is removed may be freed, and only bytecode frees it in time.
    """
    of_dict = class_of(arguments[0]) is dict
    if of_dict and len(arguments) == 3:
        looked_at = isinstance(arguments[0], (KnownContainer, OpaqueObject))
        if not looked_at or not is_exactly(interpreter.constant(arguments[1]), ITEM_KEYS):
            return _pop_default(interpreter, *arguments)
        if not _has_now(interpreter, *arguments[:2]):
            return arguments[2]
        del arguments[2]
    only(arguments, keywords, "pop", 2, 2 if of_dict else 1)
    owner, index = arguments[0], arguments[1] if len(arguments) == 2 else Const(-1)
    if expectations.is_dropped(interpreter):
        remove(interpreter, owner, index)
        return Const(None)
    like = expectations.expected(interpreter, owner, interpreter.constant(index) if of_dict or isinstance(index, Const)
                                 else None)
    row = row_of(like) if not of_dict else None
    if row is not None:
        return _pop_tuple(interpreter, owner, index, row)
    if is_among(class_of(like), (list, tuple, dict)):
        raise Break("PJ203", operand=describe(like))
    operands = key_operands.item_operands(interpreter, owner, index)
    container_effects.changing_container(interpreter, owner)
    return expectations.found(interpreter, "pop_key" if of_dict else "pop_item", operands, like)


def _pop_tuple(interpreter: Interpreter, owner: Abstract, index: Abstract, row: Object) -> Abstract:
    """``list.pop(...)`` of a tuple or a list of numbers: load and check it, then remove it;
    no exit follows the removal."""
    operands = [interpreter.object_value(owner), interpreter.word(index)]
    item = taken_tuple(interpreter, "load_item", operands, row)
    container_effects.changing_container(interpreter, owner)
    interpreter.emit("list_take", operands, None)
    return item


def _pop_default(interpreter: Interpreter, owner: Abstract, index: Abstract, default: Abstract) -> Abstract:
    """``dict.pop(key, default)`` where an existing item has the default's type, or the result is dropped."""
    operands = key_operands.item_operands(interpreter, owner, index)
    if expectations.is_dropped(interpreter):
        container_effects.effect(interpreter, "discard_key", owner, operands)
        return Const(None)
    reads.expect_like(interpreter, default)
    operands.append(stored_values.stored_value(interpreter, default))
    container_effects.changing_container(interpreter, owner)
    return expectations.found(interpreter, "pop_default", operands, default)


def _has_now(interpreter: Interpreter, owner: Any, index: Abstract) -> bool:
    """Whether a dict has a key during capture; the kernel exits where that differs at run time."""
    key = interpreter.constant(index)
    if isinstance(owner, KnownContainer):
        return contents.holds_item(interpreter, owner, key)
    expected = read_item(owner.sample, key) is not UNBOUND
    found = conversions.truth(interpreter, reads.has_key_now(interpreter, owner, index))
    wanted = found if expected else interpreter.emit("not", [found], FLAG)
    interpreter.emit("require", [wanted], None, exits=True)
    return expected


@models(dict, "setdefault")
def _setdefault(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``dict.setdefault(key, value)`` where an existing item has the value's type."""
    only(arguments, keywords, "setdefault", 3)
    owner, index, value = arguments
    operands = key_operands.item_operands(interpreter, owner, index) + [stored_values.stored_value(interpreter, value)]
    expect_entry(interpreter.state, owner, (entry_kind(index), entry_kind(value)))
    container_effects.changing_container(interpreter, owner)
    return expectations.found(interpreter, "setdefault", operands, value)


@models(dict, "update")
def _update(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``d.update(pairs, name=value)``: the keys in the order of their first occurrence, each with its last value."""
    only(arguments, {}, "update", *((1, 2) if keywords else (2,)))
    plain = not keywords and class_of(arguments[1]) is dict
    add_entries(interpreter, arguments[0], arguments[1] if plain else call_dict(interpreter, arguments[1:], keywords))
    return Const(None)


@model_factory
def _without_arguments(name: str, operation: str) -> Handler:
    """``xs.reverse()`` and ``xs.clear()``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        container_effects.effect(interpreter, operation, arguments[0], [interpreter.object_value(arguments[0])])
        return Const(None)
    return call


@model_factory
def _of_set(name: str) -> Handler:
    """``add``, ``discard`` and ``remove`` of a member that compares without user code,
    and not by identity as NaN does."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        key_operands.require_key(interpreter, arguments[1])
        if name == "add":
            expect_entry(interpreter.state, arguments[0], (entry_kind(arguments[1]),))
        operands = [interpreter.object_value(arguments[0]), stored_values.stored_value(interpreter, arguments[1])]
        container_effects.effect(interpreter, "set_" + name, arguments[0], operands)
        return Const(None)
    return call


@models(list, "remove")
def _remove(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``list.remove(value)`` of a number or a string."""
    only(arguments, keywords, "remove", 2)
    owner, value = arguments
    container_effects.effect(interpreter, "delete_item", owner,
                             [interpreter.object_value(owner), found_position(interpreter, owner, value)])
    return Const(None)


def found_position(interpreter: Interpreter, owner: Abstract, value: Abstract) -> Value:
    """The first position of a value in a list, as a WORD; the kernel exits where it is absent."""
    found, zero = comparisons.position_of(interpreter, owner, value), interpreter.emit("const", [], WORD, {"value": 0})
    interpreter.emit("require", [interpreter.emit("compare", [found, zero], FLAG, {"operator": ">="})], None,
                     exits=True)
    return found


@models(list, "sort")
def _sort(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``list.sort(reverse=...)`` of numbers of one class, or of strings; with a key that does not read the list."""
    key = keywords.get("key", Const(None))
    if key != Const(None) and len(arguments) == 1 and sees_no_list(key, interpreter.context.globals):
        made = interpreter.call(Const(sorted), [arguments[0]], dict(keywords))
        whole = interpreter.object_value(Const(slice(None)))
        container_effects.effect(interpreter, "store_slice", arguments[0],
                                 [interpreter.object_value(arguments[0]), whole, interpreter.object_value(made)])
        return Const(None)
    backwards = interpreter.constant(keywords.get("reverse", Const(False)))
    if len(arguments) != 1 or set(keywords) - {"reverse"} or not is_among(type(backwards), (bool, int)):
        raise Break("PJ211", callee="sort")
    container_effects.effect(interpreter, "sort", arguments[0],
                             [interpreter.object_value(arguments[0]), interpreter.word(Const(int(bool(backwards))))])
    return Const(None)


models(list, "reverse")(_without_arguments("reverse", "reverse"))
for _kind, _operation in ((list, "clear_list"), (dict, "clear_dict"), (set, "clear_set")):
    models(_kind, "clear")(_without_arguments("clear", _operation))
for _method in ("add", "discard", "remove"):
    models(set, _method)(_of_set(_method))
