"""Instructions that build and unpack tuples, lists, dicts and sets, and the steps of comprehensions.

A container that no other value refers to is replaced on the operand stack by a longer one. The values are made by
`models/containers/literals.py`.
"""

from __future__ import annotations

from typing import Any, List

from pijit.core.bytecode.analysis.function_making import makes_call_arguments
from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.predicates import adds_to_set, builds_set
from pijit.core.bytecode.rewrite.generator_to_loop import VALUE_BELOW_KEY
from pijit.core.capture.models.containers import constructions, contents, key_operands, literals
from pijit.core.capture.models.containers.item_reads import items_or_break
from pijit.core.capture.models.containers.literals import new_virtual_list
from pijit.core.capture.models.containers.sequences import joined_dicts, taken_apart, taken_apart_with_rest
from pijit.core.capture.models.functions.star_arguments import starred_or_break
from pijit.core.capture.models.iteration.consumers import call_set
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import item_kind, item_kinds, list_of_kinds, together
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.key_value_types import (
    common_kind,
    entry_kind,
    joined_kinds,
    kinds_of_entries,
    type_with_entries,
)
from pijit.core.capture.values.lattice import Abstract, Const, Instance, KnownContainer, class_of
from pijit.core.capture.values.virtual_object import StackTuple, VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.types import Object

STORES, MOVES = ("STORE_FAST", "STORE_DEREF"), ("BUILD_LIST", "ROT_TWO", "ROT_THREE")


def _is_stored(interpreter: Interpreter, instr: Instr) -> bool:
    """Whether this list literal and those after it go into variables, not into a call or a comprehension."""
    following = interpreter.function.instructions[instr.index + 1]
    while following.opname in MOVES:
        following = interpreter.function.instructions[following.index + 1]
    return following.opname in STORES


def op_BUILD_TUPLE(interpreter: Interpreter, instr: Instr) -> None:
    items = interpreter.pop_many(instr.arg or 0)
    waits = any(isinstance(item, StackTuple) or isinstance(item, VirtualObject) and not item.shared for item in items)
    interpreter.push(StackTuple(items) if waits else constructions.new_tuple(interpreter, items))


def op_BUILD_LIST(interpreter: Interpreter, instr: Instr) -> None:
    items = interpreter.pop_many(instr.arg or 0)
    is_virtual = interpreter.context.options.static_roots is not None and _is_stored(interpreter, instr)
    interpreter.push(new_virtual_list(interpreter, items) if is_virtual else constructions.new_list(interpreter, items))


def op_BUILD_SET(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(literals.new_set(interpreter, interpreter.pop_many(instr.arg or 0)))


def op_BUILD_MAP(interpreter: Interpreter, instr: Instr) -> None:
    parts = interpreter.pop_many(2 * (instr.arg or 0))
    if all(isinstance(key, Const) for key in parts[::2]):
        interpreter.push(constructions.new_dict(interpreter, [_key(part) for part in parts[::2]], parts[1::2]))
        return
    for key in parts[::2]:
        key_operands.require_key(interpreter, key)
    made = interpreter.emit("new_dict", [stored_values.stored_value(interpreter, part) for part in parts], Object(dict))
    interpreter.push(Instance(type_with_entries(dict, (common_kind(parts[::2]), common_kind(parts[1::2]))), made))


def op_BUILD_CONST_KEY_MAP(interpreter: Interpreter, instr: Instr) -> None:
    keys = interpreter.pop()
    interpreter.push(constructions.new_dict(interpreter,
                                            [_key(key) for key in contents.items_of(interpreter, keys) or []],
                                            interpreter.pop_many(instr.arg or 0)))


def op_BUILD_TUPLE_UNPACK(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(constructions.new_tuple(interpreter, _chained(interpreter, interpreter.pop_many(instr.arg or 0))))


def op_BUILD_TUPLE_UNPACK_WITH_CALL(interpreter: Interpreter, instr: Instr) -> None:
    """``f(a, *b)`` up to CPython 3.8."""
    parts = interpreter.pop_many(instr.arg or 0)
    items = _chained(interpreter, parts[:-1])
    items += starred_or_break(interpreter, interpreter.state.stack[-1], len(items), parts[-1])
    interpreter.push(constructions.new_tuple(interpreter, items))


def op_BUILD_MAP_UNPACK(interpreter: Interpreter, instr: Instr) -> None:
    """``{**a, **b}`` up to CPython 3.8."""
    interpreter.push(joined_dicts(interpreter, interpreter.pop_many(instr.arg or 0)))


def op_DICT_UPDATE(interpreter: Interpreter, instr: Instr) -> None:
    """``{**a}`` from CPython 3.9 on."""
    more, owner = interpreter.pop(), interpreter.use(interpreter.state.stack[-(instr.arg or 1)])
    made = joined_dicts(interpreter, [owner, more])
    made.defined_at = owner.defined_at
    interpreter.state.stack[-(instr.arg or 1)] = made


def op_BUILD_SET_UNPACK(interpreter: Interpreter, instr: Instr) -> None:
    """``{*a}`` up to CPython 3.8."""
    if instr.arg != 1:
        raise Break("PJ216", opcode=instr.opname)
    interpreter.push(call_set(interpreter, [interpreter.pop()], {}))


def op_SET_UPDATE(interpreter: Interpreter, instr: Instr) -> None:
    """``{*a}`` and ``{1, 2, 3}`` from CPython 3.9 on; Break unless the set below is still empty."""
    value, owner = interpreter.pop(), interpreter.state.stack[-(instr.arg or 1)]
    begin = interpreter.function.instructions[owner.defined_at] if owner.defined_at >= 0 else instr
    between = interpreter.function.instructions[begin.index:instr.index]
    if not builds_set(begin) or begin.arg or any(map(adds_to_set, between)):
        raise Break("PJ216", opcode=instr.opname)
    made = call_set(interpreter, [value], {})
    made.defined_at = owner.defined_at
    interpreter.state.stack[-(instr.arg or 1)] = made


def op_BUILD_LIST_UNPACK(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(constructions.new_list(interpreter, _chained(interpreter, interpreter.pop_many(instr.arg or 0))))


def op_LIST_EXTEND(interpreter: Interpreter, instr: Instr) -> None:
    """``[*a, *b]``, and ``f(a, *b)`` from CPython 3.9 on."""
    value, owner = interpreter.pop(), interpreter.state.stack[-(instr.arg or 1)]
    if isinstance(owner, KnownContainer) and makes_call_arguments(interpreter.function, instr):
        items = starred_or_break(interpreter, interpreter.state.stack[-2], len(owner.items), value)
    else:
        items = _chained(interpreter, [value])
    _lengthen(interpreter, instr.arg or 1, items)


def op_LIST_APPEND(interpreter: Interpreter, instr: Instr) -> None:
    """``[*a, b]``, and the step of a comprehension."""
    item = interpreter.pop()
    owner = interpreter.state.stack[-(instr.arg or 1)]
    if isinstance(owner, KnownContainer) or class_of(owner) is not list:
        _lengthen(interpreter, instr.arg or 1, [item])
        return
    made = interpreter.object_value(owner)
    kinds = item_kinds(owner)
    if kinds != {item_kind(item)}:
        kind = list_of_kinds(together([*kinds, item_kind(item)]))
        interpreter.state.stack[-(instr.arg or 1)] = Instance(kind, made, None, owner.defined_at)
    interpreter.emit("collect", [made, stored_values.stored_value(interpreter, item)], None, exits=True)


def op_MAP_ADD(interpreter: Interpreter, instr: Instr) -> None:
    """The step of a dict comprehension."""
    first, second = interpreter.pop_many(2)
    key, value = (second, first) if VALUE_BELOW_KEY else (first, second)
    known = interpreter.use(interpreter.state.stack[-(instr.arg or 1)])
    if class_of(known) is dict and not (isinstance(key, Const) and isinstance(known, KnownContainer)):
        made = interpreter.object_value(known)
        kinds = joined_kinds(kinds_of_entries(known), (entry_kind(key), entry_kind(value)))
        interpreter.state.stack[-(instr.arg or 1)] = Instance(type_with_entries(dict, kinds), made, None,
                                                              known.defined_at)
        interpreter.emit("collect_pair", [made, key_operands.key_value(interpreter, key),
                                          stored_values.stored_value(interpreter, value)], None,
                         exits=True)
        return
    if not isinstance(known, KnownContainer) or known.keys is None:
        raise Break("PJ216", operand=describe(known))
    items = dict(zip(known.keys, map(interpreter.use, known.items)))
    items[_key(key)] = value
    longer = constructions.new_dict(interpreter, list(items), list(items.values()))
    longer.defined_at = known.defined_at
    interpreter.state.stack[-(instr.arg or 1)] = longer


def op_SET_ADD(interpreter: Interpreter, instr: Instr) -> None:
    """The step of a set comprehension."""
    item = interpreter.pop()
    key_operands.require_key(interpreter, item)
    known = interpreter.state.stack[-(instr.arg or 1)]
    owner, kinds = interpreter.object_value(known), joined_kinds(kinds_of_entries(known), (entry_kind(item),))
    interpreter.state.stack[-(instr.arg or 1)] = Instance(type_with_entries(set, kinds), owner, None, known.defined_at)
    interpreter.emit("collect_member", [owner, stored_values.stored_value(interpreter, item)], None, exits=True)


def _lengthen(interpreter: Interpreter, position: int, more: List[Abstract]) -> None:
    """Replace the list at this depth by a longer one, because it is new and nothing else refers to it."""
    known = interpreter.use(interpreter.state.stack[-position])
    if not isinstance(known, KnownContainer) or known.keys is not None:
        raise Break("PJ216", operand=describe(known))
    longer = constructions.new_list(interpreter, [interpreter.use(item) for item in known.items] + more)
    longer.defined_at = known.defined_at
    interpreter.state.stack[-position] = longer


def op_LIST_TO_TUPLE(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(constructions.new_tuple(interpreter, _chained(interpreter, [interpreter.pop()])))


def _chained(interpreter: Interpreter, parts: List[Abstract]) -> List[Abstract]:
    chained: List[Abstract] = []
    for part in parts:
        chained += items_or_break(interpreter, part)
    return chained


def op_UNPACK_SEQUENCE(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.state.stack += reversed(taken_apart(interpreter, interpreter.pop(), instr.arg or 0))


def op_UNPACK_EX(interpreter: Interpreter, instr: Instr) -> None:
    before, after = (instr.arg or 0) & 0xFF, (instr.arg or 0) >> 8
    value = interpreter.pop()
    found = taken_apart_with_rest(interpreter, value, before, after)
    if found is not None:
        found[before].defined_at = instr.index
        interpreter.state.stack += reversed(found)
        return
    items = _chained(interpreter, [value])
    if len(items) < before + after:
        raise Break("PJ203", operand="%d items" % len(items))
    end = len(items) - after
    rest = constructions.new_list(interpreter, items[before:end])
    rest.defined_at = instr.index
    interpreter.state.stack += reversed(items[:before] + [rest] + items[end:])


def _key(value: Abstract) -> Any:
    if not isinstance(value, Const):
        raise Break("PJ216", key=describe(value))
    return value.object
