"""Reads of containers where control comes to them: at a computed position, or of what captured code changes.

The kernel looks when it gets there and leaves before the read where the item is missing or of another type. So neither
earlier effects nor other names of the container matter. What type to expect, type feedback says, or else the items that the
container has when the function is captured.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Callable, List, Optional

import numpy as np
from pijit.core.bytecode.blocks import CFG
from pijit.core.bytecode.decode import Function, Instr
from pijit.core.capture.operators import describe
from pijit.core.capture.places import identity_of
from pijit.core.capture.states import join, knows_nothing
from pijit.core.capture.values import (
    Abstract,
    Const,
    Instance,
    Known,
    Number,
    Opaque,
    Sequence,
    Tensor,
    Unknown,
    abstract_of,
    class_of,
    number_type,
)
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, INT, Object
from pijit.guards.facts import is_among
from pijit.guards.source import UNBOUND, is_plain_tuple, read_item

READABLE = (list, tuple, dict)
CHANGING = READABLE + (set,)
KEYS = (int, str)
LOOKED_AT = 256
"""How many arrays of a list are looked at to find the type that covers them."""


class ContainerReads:
    """Mixin of the interpreter: items and lengths, read at once."""

    cfg: CFG
    facts: Any
    function: Function
    instr: Instr
    constant: Callable[[Abstract], Any]
    emit: Callable[..., Optional[Value]]
    object_value: Callable[[Abstract], Value]
    stored_value: Callable[[Abstract], Value]
    word: Callable[[Abstract], Value]

    def is_changing(self, owner: Abstract) -> bool:
        """Whether what a container holds is known only where it is looked at."""
        if isinstance(owner, Opaque):
            kind, changed = type(owner.sample), self.facts.changed
            return is_among(kind, CHANGING) and ((kind, identity_of(owner)) in changed or (kind, None) in changed)
        return type(owner) is Instance and is_among(owner.type.python, CHANGING)

    def asks_anew(self, owner: Abstract) -> bool:
        """Whether the truth of a container decides here if a loop goes on; what the loop does may well change it."""
        return (isinstance(owner, Opaque) and is_among(type(owner.sample), CHANGING)
                and self.cfg.decides_loop(self.instr.index))

    def read_now(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]``."""
        key = self.constant(index) if class_of(owner) is dict or isinstance(index, Const) else None
        operands = self.item_operands(owner, index)
        return self.found("load_key" if class_of(owner) is dict else "load_item", operands, self.expected(owner, key))

    def item_operands(self, owner: Abstract, index: Abstract) -> List[Value]:
        """The operands that name an item of a list or tuple by position, or of a dict by a constant key."""
        if class_of(owner) is not dict:
            return [self.object_value(owner), self.word(index)]
        return [self.object_value(owner), self.key_value(index)]

    def key_value(self, index: Abstract) -> Value:
        """The key of a dict as an operand."""
        key = self.constant(index)
        if type(key) not in KEYS:
            raise Break("PJ205", index=describe(index))
        return self.object_value(Const(key))

    def found(self, name: str, operands: List[Value], like: Abstract) -> Abstract:
        """What a read of this operation finds."""
        if isinstance(like, Unknown):
            raise Break(like.reason)
        result = readable(like)
        if result is None or name == "get_key" and isinstance(result, Instance):
            raise Break("PJ203", operand=describe(like))
        result.value = self.emit(name, operands, result.type, exits=True)
        return result

    def expected(self, owner: Abstract, key: Any) -> Abstract:
        """What type an item probably has; ``key`` is its key if that is known, else None."""
        seen = self.facts.feedback.get(self.instr.index)
        if seen is not None:
            return seen  # type: ignore[no-any-return]
        self.facts.guessed.add(self.instr.index)
        items = _items_like(owner, key)
        if not items:
            raise Break("PJ218")
        like = reduce(join, items)
        if knows_nothing(like):
            raise Break("PJ213")
        return like

    def is_dropped(self) -> bool:
        """Whether nobody wants what the instruction pushes."""
        return self.function.instructions[self.instr.index + 1].opname == "POP_TOP"

    def length_now(self, owner: Abstract) -> Abstract:
        """``len(owner)`` of a container that changes."""
        return Number(INT, self.emit("length", [self.object_value(owner)], INT))

    def has_key_now(self, owner: Abstract, index: Abstract) -> Abstract:
        """``index in owner`` of a dict that changes."""
        flag = self.emit("has_key", [self.object_value(owner), self.key_value(index)], FLAG, exits=True)
        return Number(BOOL, self.emit("flag", [flag], BOOL))

    def get_now(self, owner: Abstract, index: Abstract, default: Abstract) -> Abstract:
        """``owner.get(index, default)`` of a dict that changes: the item must be of the default's type."""
        operands = self.item_operands(owner, index) + [self.stored_value(default)]
        return self.found("get_key", operands, default)


def readable(like: Abstract) -> Any:
    """A value of this type as a read finds it, or None where no read does."""
    kind = number_type(like)
    if kind is not None:
        return Number(kind)
    if isinstance(like, Tensor):
        return Tensor(like.type)
    container = class_of(like)
    return Instance(Object(container)) if is_among(container, READABLE) else None


def _items_like(owner: Abstract, key: Any) -> List[Abstract]:
    """Values like the item: that item, or one of each kind that the container has."""
    if isinstance(owner, (Sequence, Known)):
        return [value for value in map(readable, owner.items) if value is not None]
    sample = owner.object if isinstance(owner, Const) else getattr(owner, "sample", ())
    if type(key) in KEYS:
        item = read_item(sample, key)
        return [] if item is UNBOUND else [abstract_of(item)]
    if not (type(sample) is list or is_plain_tuple(sample)):
        return []
    kinds = {id(type(item)): item for item in sample}
    items = sample[:LOOKED_AT] if list(kinds) == [id(np.ndarray)] else list(kinds.values())
    return [abstract_of(item) for item in items]
