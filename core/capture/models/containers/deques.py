"""``collections.deque``: items at either end and by index, read where control comes to them, and what changes it.

A deque is never known by its items: other names of it, and what bytecode did meanwhile, do not matter then.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Dict, List, Optional, Tuple

from pijit.core.capture.models.operators import describe
from pijit.core.capture.values.describe import Arguments, Handler, only
from pijit.core.capture.values.element_types import type_of
from pijit.core.capture.values.lattice import Abstract, Const, Sequence, class_of
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Array, Holding, ListOf, Object, Scalar
from pijit.guards.facts import is_among


def item_of_deque(self: Any, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``, a number, an array or a string."""
    like = self.expected(owner, None)
    if is_among(class_of(like), (list, tuple, dict)):  # only bytecode keeps them alive for as long
        raise Break("PJ203", operand=describe(like))
    return self.found("deque_item", [self.object_value(owner), self.word(index)], like)  # type: ignore[no-any-return]


def _append(name: str) -> Handler:
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        owner, value = arguments
        self.effect("deque_" + name, owner, [self.object_value(owner), self.stored_value(value)])
        return Const(None)
    return call


def _take(name: str, position: int) -> Handler:
    """``pop`` and ``popleft``: what is there is read first, and taken out when nothing can go wrong any more."""
    def call(self: Any, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        owner, index = arguments[0], Const(position)
        if self.is_dropped():
            self.effect("deque_drop", owner, [self.object_value(owner), self.word(index)])
            return Const(None)
        row = row_of(self.expected(owner, None))
        item = (item_of_deque(self, owner, index) if row is None
                else taken_tuple(self, "deque_item", [self.object_value(owner), self.word(index)], row))
        self.changing_container(owner)
        self.emit("deque_take", [self.object_value(owner), self.word(index)], None)
        return item
    return call


def row_of(like: Abstract) -> Optional[Object]:
    """The type of a tuple that may end here, of numbers, arrays and strings; or of a list of numbers."""
    kind = type_of(like)
    if isinstance(kind, ListOf):
        return kind
    if not isinstance(kind, Holding) or kind.python is not tuple:
        return None
    plain = all(isinstance(part, (Scalar, Array)) or part.python is str for part in kind.items)
    return kind if plain else None


def taken_tuple(self: Any, read: str, operands: List[Value], row: Object) -> Abstract:
    """A tuple, or a list, that will be taken out: a tuple lives on only if it is not unpacked at once."""
    found = self.typed_item(read, *operands, row)
    if isinstance(found, Sequence) and self.function.instructions[self.instr.index + 1].opname == "UNPACK_SEQUENCE":
        return Sequence(list(found.items))
    self.emit("hold", [found.value], None, exits=True)
    return found  # type: ignore[no-any-return]


DEQUE_METHODS: Dict[Tuple[type, str], Handler] = {
    (deque, "append"): _append("append"), (deque, "appendleft"): _append("appendleft"),
    (deque, "pop"): _take("pop", -1), (deque, "popleft"): _take("popleft", 0),
}
