"""Literals of tuples, lists, dicts and sets: the contents are known until something may change them.

A list or dict is made at once, as a real object with one identity. Its operation is removed where nothing needs the
object. The interpreter inherits `Displays`.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from pijit.core.bytecode.codec.decode import Function, Instr
from pijit.core.bytecode.rewrite.generator_to_loop import VALUE_BELOW_KEY
from pijit.core.capture.models.containers.contents import is_container
from pijit.core.capture.models.containers.ranges import made_range
from pijit.core.capture.models.containers.sequences import (
    JOINS,
    copied,
    is_short,
    joined_dicts,
    part_of,
    taken_apart,
    taken_apart_with_rest,
)
from pijit.core.capture.models.functions.star_arguments import behind_display, starred_or_break
from pijit.core.capture.models.iteration.consumers import call_set
from pijit.core.capture.models.numpy.random import is_pythons_draw
from pijit.core.capture.models.objects.composites import held_method, is_unmade, made_slice
from pijit.core.capture.models.objects.instances import shared
from pijit.core.capture.models.operators import describe
from pijit.core.capture.state.frame_state import FrameState, item_kind, item_kinds, list_of_kinds, together
from pijit.core.capture.values.base import HOLDERS
from pijit.core.capture.values.key_value_types import (
    common_kind,
    entry_kind,
    joined_kinds,
    kinds_of_entries,
    type_of_set,
    type_with_entries,
)
from pijit.core.capture.values.lattice import (
    Abstract,
    Bound,
    CellRef,
    Const,
    Instance,
    KnownContainer,
    Method,
    Range,
    Sequence,
    SliceDisplay,
    class_of,
    pointer_class,
)
from pijit.core.capture.values.virtual_object import Display, VirtualObject, is_row
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object
from pijit.guards.facts import is_among, is_exactly

KEY_CLASSES = (int, str)


class Displays:
    """Mixin of the interpreter: instructions that build tuples, lists, dicts and sets from values, and unpack them."""

    pop: Callable[[], Abstract]
    pop_many: Callable[[int], List[Abstract]]
    push: Callable[[Abstract], None]
    use: Callable[[Abstract], Abstract]
    items_of: Callable[[Abstract], Optional[List[Abstract]]]
    emit: Callable[..., Optional[Value]]
    stored_value: Callable[[Abstract], Value]
    object_value: Callable[[Abstract], Value]
    require_key: Callable[[Abstract], None]
    key_value: Callable[[Abstract], Value]
    alone: Callable[[Abstract], Abstract]
    state: FrameState
    function: Function

    def as_object(self, value: Abstract) -> Abstract:
        """A value in the form in which more than the operand stack can hold it."""
        if isinstance(value, SliceDisplay):
            return made_slice(self, value)
        if isinstance(value, Range):
            return made_range(self, value)
        if isinstance(value, Method) and is_among(pointer_class(value.owner), HOLDERS):
            return held_method(self, value)
        if isinstance(value, Bound) and isinstance(value.function, Const) and is_pythons_draw(value.function.object):
            self.use(value.function)
            return held_method(self, Method(value.owner, value.function.object.__name__))
        if not isinstance(value, Display) and not is_unmade(value):
            return value
        made = self.new_tuple(list(map(self.as_object, value.items)))  # type: ignore[attr-defined]
        made.born = value.born
        return made

    def new_tuple(self, items: List[Abstract]) -> Sequence:
        """A new tuple of these values. One with slices is an index and one of cells is a closure;
        these are no objects."""
        if any(isinstance(item, CellRef) or is_unmade(item) for item in items):
            return Sequence(items)
        items = shared(self, items)
        parts = [self.stored_value(self.alone(item)) for item in items]
        return Sequence(items, value=self.emit("new_tuple", parts, Object(tuple)))

    def new_list(self, items: List[Abstract]) -> KnownContainer:
        """A new list of these values."""
        items = shared(self, list(map(self.as_object, items)))
        made = self.emit("new_list", [self.stored_value(item) for item in items], Object(list))
        return KnownContainer(Object(list), None, items, made)

    def new_dict(self, keys: List[Any], values: List[Abstract]) -> KnownContainer:
        """A new dict of these keys, each an int or a string, and values."""
        if any(not is_exactly(key, KEY_CLASSES) for key in keys) or len(set(keys)) != len(keys):
            raise Break("PJ216", keys="equal, or no ints and strings")
        values = shared(self, list(map(self.as_object, values)))
        pairs = [self.stored_value(part) for key, value in zip(keys, values) for part in (Const(key), value)]
        return KnownContainer(Object(dict), tuple(keys), values, self.emit("new_dict", pairs, Object(dict)))

    def of_sequences(self, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
        """An operator on tuples, lists or sets; None for other operands."""
        return JOINS[symbol](self, left, right) if symbol in JOINS else None

    def copied(self, owner: Abstract) -> Abstract:
        """A new list of all items of a list."""
        return copied(self, owner)

    def is_short(self, value: Abstract) -> bool:
        """Whether all items of a tuple or list are known or can be guarded one by one."""
        return is_short(self, value)

    def part_of_list(self, owner: Abstract, parts: Any) -> Abstract:
        """``owner[start:stop:step]`` of a list whose items are not known one by one."""
        return part_of(self, owner, parts)

    def op_BUILD_TUPLE(self, instr: Instr) -> None:
        items = self.pop_many(instr.arg or 0)
        waits = any(isinstance(item, Display) or isinstance(item, VirtualObject) and not item.shared for item in items)
        self.push(Display(items) if waits else self.new_tuple(items))

    def op_BUILD_LIST(self, instr: Instr) -> None:
        self.push(self.new_list(self.pop_many(instr.arg or 0)))

    def new_set(self, items: List[Abstract]) -> Instance:
        """A new set of these values."""
        for item in items:
            self.require_key(item)
        return Instance(type_of_set(items),
                        self.emit("new_set", [self.stored_value(item) for item in items], Object(set)))

    def op_BUILD_SET(self, instr: Instr) -> None:
        self.push(self.new_set(self.pop_many(instr.arg or 0)))

    def op_BUILD_MAP(self, instr: Instr) -> None:
        parts = self.pop_many(2 * (instr.arg or 0))
        if all(isinstance(key, Const) for key in parts[::2]):
            self.push(self.new_dict([_key(part) for part in parts[::2]], parts[1::2]))
            return
        for key in parts[::2]:
            self.require_key(key)
        made = self.emit("new_dict", [self.stored_value(part) for part in parts], Object(dict))
        self.push(Instance(type_with_entries(dict, (common_kind(parts[::2]), common_kind(parts[1::2]))), made))

    def op_BUILD_CONST_KEY_MAP(self, instr: Instr) -> None:
        keys = self.pop()
        self.push(self.new_dict([_key(key) for key in self.items_of(keys) or []], self.pop_many(instr.arg or 0)))

    def op_BUILD_TUPLE_UNPACK(self, instr: Instr) -> None:
        self.push(self.new_tuple(self._chained(self.pop_many(instr.arg or 0))))

    def op_BUILD_TUPLE_UNPACK_WITH_CALL(self, instr: Instr) -> None:
        """``f(a, *b)`` up to CPython 3.8."""
        parts = self.pop_many(instr.arg or 0)
        items = self._chained(parts[:-1])
        self.push(self.new_tuple(items + starred_or_break(self, self.state.stack[-1], len(items), parts[-1])))

    def op_BUILD_MAP_UNPACK(self, instr: Instr) -> None:
        """``{**a, **b}`` up to CPython 3.8."""
        self.push(joined_dicts(self, self.pop_many(instr.arg or 0)))

    def op_DICT_UPDATE(self, instr: Instr) -> None:
        """``{**a}`` from CPython 3.9 on."""
        more, owner = self.pop(), self.use(self.state.stack[-(instr.arg or 1)])
        made = joined_dicts(self, [owner, more])
        made.born = owner.born
        self.state.stack[-(instr.arg or 1)] = made

    def op_BUILD_SET_UNPACK(self, instr: Instr) -> None:
        """``{*a}`` up to CPython 3.8."""
        if instr.arg != 1:
            raise Break("PJ216", opcode=instr.opname)
        self.push(call_set(self, [self.pop()], {}))

    def op_SET_UPDATE(self, instr: Instr) -> None:
        """``{*a}`` and ``{1, 2, 3}`` from CPython 3.9 on; Break unless the set below is still empty."""
        value, owner = self.pop(), self.state.stack[-(instr.arg or 1)]
        begin = self.function.instructions[owner.born] if owner.born >= 0 else instr
        between = self.function.instructions[begin.index:instr.index]
        if begin.opname != "BUILD_SET" or begin.arg or any(one.opname in ("SET_UPDATE", "SET_ADD") for one in between):
            raise Break("PJ216", opcode=instr.opname)
        made = call_set(self, [value], {})
        made.born = owner.born
        self.state.stack[-(instr.arg or 1)] = made

    def op_BUILD_LIST_UNPACK(self, instr: Instr) -> None:
        self.push(self.new_list(self._chained(self.pop_many(instr.arg or 0))))

    def op_LIST_EXTEND(self, instr: Instr) -> None:
        """``[*a, *b]``, and ``f(a, *b)`` from CPython 3.9 on."""
        value, owner = self.pop(), self.state.stack[-(instr.arg or 1)]
        if isinstance(owner, KnownContainer) and behind_display(self.function, instr):
            items = starred_or_break(self, self.state.stack[-2], len(owner.items), value)
        else:
            items = self._chained([value])
        self._lengthen(instr.arg or 1, items)

    def op_LIST_APPEND(self, instr: Instr) -> None:
        """``[*a, b]``, and the step of a comprehension."""
        item = self.pop()
        owner = self.state.stack[-(instr.arg or 1)]
        if isinstance(owner, KnownContainer) or class_of(owner) is not list:
            self._lengthen(instr.arg or 1, [item])
            return
        made = self.object_value(owner)
        kinds = item_kinds(owner)
        if kinds != {item_kind(item)}:
            kind = list_of_kinds(together([*kinds, item_kind(item)]))
            self.state.stack[-(instr.arg or 1)] = Instance(kind, made, None, owner.born)
        self.emit("collect", [made, self.stored_value(item)], None, exits=True)

    def op_MAP_ADD(self, instr: Instr) -> None:
        """The step of a dict comprehension."""
        first, second = self.pop_many(2)
        key, value = (second, first) if VALUE_BELOW_KEY else (first, second)
        known = self.use(self.state.stack[-(instr.arg or 1)])
        if class_of(known) is dict and not (isinstance(key, Const) and isinstance(known, KnownContainer)):
            made = self.object_value(known)
            kinds = joined_kinds(kinds_of_entries(known), (entry_kind(key), entry_kind(value)))
            self.state.stack[-(instr.arg or 1)] = Instance(type_with_entries(dict, kinds), made, None, known.born)
            self.emit("collect_pair", [made, self.key_value(key), self.stored_value(value)], None, exits=True)
            return
        if not isinstance(known, KnownContainer) or known.keys is None:
            raise Break("PJ216", operand=describe(known))
        items = dict(zip(known.keys, map(self.use, known.items)))
        items[_key(key)] = value
        longer = self.new_dict(list(items), list(items.values()))
        longer.born = known.born
        self.state.stack[-(instr.arg or 1)] = longer

    def op_SET_ADD(self, instr: Instr) -> None:
        """The step of a set comprehension."""
        item = self.pop()
        self.require_key(item)
        known = self.state.stack[-(instr.arg or 1)]
        owner, kinds = self.object_value(known), joined_kinds(kinds_of_entries(known), (entry_kind(item),))
        self.state.stack[-(instr.arg or 1)] = Instance(type_with_entries(set, kinds), owner, None, known.born)
        self.emit("collect_member", [owner, self.stored_value(item)], None, exits=True)

    def _lengthen(self, position: int, more: List[Abstract]) -> None:
        """Replace the list at this depth by a longer one, because it is new and nothing else refers to it."""
        known = self.use(self.state.stack[-position])
        if not isinstance(known, KnownContainer) or known.keys is not None:
            raise Break("PJ216", operand=describe(known))
        longer = self.new_list([self.use(item) for item in known.items] + more)
        longer.born = known.born
        self.state.stack[-position] = longer

    def op_LIST_TO_TUPLE(self, instr: Instr) -> None:
        self.push(self.new_tuple(self._chained([self.pop()])))

    def _chained(self, parts: List[Abstract]) -> List[Abstract]:
        chained: List[Abstract] = []
        for part in parts:
            chained += self._parts_of(part)
        return chained

    def _parts_of(self, value: Abstract) -> List[Abstract]:
        """All items of a tuple or list, with their guards."""
        items = self.items_of(value)
        if items is None:
            raise Break("PJ203", operand=describe(value))
        return [self.use(item) for item in items]

    def op_UNPACK_SEQUENCE(self, instr: Instr) -> None:
        self.state.stack += reversed(taken_apart(self, self.pop(), instr.arg or 0))

    def op_UNPACK_EX(self, instr: Instr) -> None:
        before, after = (instr.arg or 0) & 0xFF, (instr.arg or 0) >> 8
        value = self.pop()
        found = taken_apart_with_rest(self, value, before, after)
        if found is not None:
            found[before].born = instr.index
            self.state.stack += reversed(found)
            return
        items = self._chained([value])
        if len(items) < before + after:
            raise Break("PJ203", operand="%d items" % len(items))
        end = len(items) - after
        rest = self.new_list(items[before:end])
        rest.born = instr.index
        self.state.stack += reversed(items[:before] + [rest] + items[end:])

    def sliced(self, owner: Abstract, part: slice) -> Abstract:
        """``owner[part]`` of a tuple or list; all of a tuple is the tuple itself."""
        items = self._parts_of(owner)
        chosen = range(len(items))[part]
        if class_of(owner) is list:
            return self.new_list([items[k] for k in chosen])
        exact = class_of(owner) is tuple
        if not exact and not is_row(owner) and not is_container(owner):
            raise Break("PJ205", object=describe(owner))
        itself = exact and chosen == range(len(items))
        return owner if itself else self.new_tuple([items[k] for k in chosen])


def _key(value: Abstract) -> Any:
    if not isinstance(value, Const):
        raise Break("PJ216", key=describe(value))
    return value.object
