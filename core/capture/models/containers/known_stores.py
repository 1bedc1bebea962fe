"""Stores into lists and dicts whose items are known: the other items stay known.

An example is ``idx[axis] = slice(1, None)``. The store is done at once, like any effect. The contents stay known if
exactly one variable can hold the container, as far as its class, its keys and its possible items tell. Subscript
stores of the interpreter call it, and the inliner does after a call.
"""

from __future__ import annotations

from typing import Dict, Iterable, List, Optional, Set

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.bytecode.instructions.opcodes import WRITES
from pijit.core.capture.models.containers import constructions, container_effects, key_operands
from pijit.core.capture.models.containers.constructions import shared
from pijit.core.capture.models.containers.expectations import ITEM_KEYS
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.state.frame_state import (
    FrameState,
    change_items,
    expect_items,
    item_kinds,
    list_of_kinds,
    together,
)
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Keywords,
    KnownContainer,
    Slice,
    StackSlice,
    class_of,
)
from pijit.core.errors import Break
from pijit.core.graph.types import Type
from pijit.guards.facts import is_among, is_exactly

MOST_ITEMS = 16
"""Most items of a container that stays known.
In loops each item is a value that is carried from iteration to iteration."""
_SLICES = (Slice, StackSlice)


def store_into_known(interpreter: Interpreter, owner: Abstract, index: Abstract, value: Abstract) -> bool:
    """Whether ``owner[index] = value`` was done here, so that the contents stay known."""
    position = _position(interpreter, owner, index)
    if position is None or not isinstance(owner, KnownContainer):
        return False
    name = _only_variable(interpreter.state, owner, value)
    if name is None:
        return False
    value = shared(interpreter, [constructions.as_object(interpreter, value)])[0]
    locals, stack = dict(interpreter.state.locals), list(interpreter.state.stack)
    container_effects.changing_container(interpreter, owner)
    interpreter.state.locals, interpreter.state.stack = locals, stack
    operands = ([interpreter.object_value(owner), interpreter.word(index)] if owner.keys is None
                else key_operands.item_operands(interpreter, owner, index))
    interpreter.emit("store_item" if owner.keys is None else "store_key", operands
                     + [stored_values.stored_value(interpreter, value)],
                     None, exits=True)
    items = list(owner.items)
    items[position] = interpreter.use(value)
    stored = owner.like(items, interpreter.object_value(owner))
    stored.root = owner.root
    interpreter.state.locals[name] = stored
    return True


def _position(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Optional[int]:
    """Which of the known items the index names; None if the index or the container is not known."""
    if not isinstance(owner, KnownContainer) or len(owner.items) > MOST_ITEMS:
        return None
    key = interpreter.constant(index) if owner.keys is None else getattr(index, "object", None)
    if owner.keys is not None:
        alike = [k for k, known in enumerate(owner.keys) if type(known) is type(key) and known == key]
        return alike[0] if is_exactly(key, ITEM_KEYS) and alike else None
    size = len(owner.items)
    return key % size if type(key) is int and -size <= key < size else None


def _only_variable(state: FrameState, owner: KnownContainer, value: Abstract) -> Optional[str]:
    """The only variable that may hold the container, or None.

    Raises:
        Break: that variable holds another object after all.
    """
    found = [name for name, held in state.locals.items() for part in _all_parts(held) if _may_be(part, owner)]
    if len(found) != 1 or any(_may_be(part, owner) for held in state.stack + [value] for part in _all_parts(held)):
        return None
    held = state.locals[found[0]]
    if not isinstance(held, KnownContainer) or held != owner:
        return None
    if held is not owner and (owner.root is None or held.root != owner.root):
        raise Break("PJ213")
    return found[0]


def _all_parts(value: Abstract) -> List[Abstract]:
    """A value and all values that it holds or may lead to."""
    parts = value.items if isinstance(value, KnownContainer) else value.lasting_parts
    if isinstance(value, Keywords):
        parts = tuple(value.items.values())
    held = [part for part in (getattr(value, "owner", None), getattr(value, "content", None)) if part is not None]
    return [value] + [inner for part in list(parts) + held for inner in _all_parts(part)]


def _may_be(value: Abstract, owner: KnownContainer) -> bool:
    """Whether a value may be this container, from all that is known of both."""
    if not isinstance(value, KnownContainer):
        return False
    alike = class_of(value) is class_of(owner) and value.keys == owner.keys and len(value.items) == len(owner.items)
    return alike and all(map(_may_equal, value.items, owner.items))


def _may_equal(one: Abstract, other: Abstract) -> bool:
    """Whether two values may be one object, as far as their classes and parts tell."""
    kinds = class_of(one), class_of(other)
    if kinds[0] is not kinds[1] and None not in kinds:
        return False
    if isinstance(one, Const) and isinstance(other, Const) and is_among(kinds[0], (int, str, type(None))):
        return one == other
    if isinstance(one, _SLICES) and isinstance(other, _SLICES):
        return all(map(_may_equal, one.parts, other.parts))
    return True


ListTypes = Dict[str, Set[Optional[Type]]]
"""By variable, the types of the items of its list."""


def lists_left(entry: FrameState, left: FrameState, instructions: Iterable[Instr]) -> ListTypes:
    """Item types of the lists that a call received, for the callee's variables that it did not bind again."""
    bound = {instr.value for instr in instructions if instr.opname in WRITES}
    return {name: item_kinds(left.locals[name]) for name, value in entry.locals.items()
            if class_of(value) is list and name in left.locals and name not in bound}


def expect_after_call(state: FrameState, entry: FrameState, paths: Iterable[ListTypes]) -> None:
    """After a call that changes lists or dicts:
    lists that it received have items as it left them, others as before."""
    def alike(value: Abstract) -> Abstract:
        names = [name for name, given in entry.locals.items()
                 if given == value and given.defined_at == value.defined_at]
        if not names or class_of(value) is not list or not isinstance(value, Instance):
            return value
        kinds = [path.get(name, {None}) for path in paths for name in names]
        copy = Instance(list_of_kinds(together(set().union(*kinds))), value.value, value.source, value.defined_at)
        copy.root = value.root
        return copy

    change_items(state, alike)
    expect_items(state)
