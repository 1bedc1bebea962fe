"""``collections.deque``: items read at run time, and methods that change a deque.

The items of a deque are never known at capture. So aliases of the deque and changes by bytecode do not matter.
"""

from __future__ import annotations

from collections import deque
from typing import List, Optional, Union, cast

from pijit.core.bytecode.instructions.predicates import unpacks_sequence
from pijit.core.capture.models.containers import container_effects, expectations
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.element_types import type_of
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Sequence, class_of
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Array, Holding, ListOf, Object, Scalar
from pijit.guards.facts import is_among


def item_of_deque(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``, a number, an array or a string."""
    like = expectations.expected(interpreter, owner, None)
    if is_among(class_of(like), (list, tuple, dict)):  # only bytecode keeps them alive long enough
        raise Break("PJ203", operand=describe(like))
    return expectations.found(interpreter, "deque_item",
                              [interpreter.object_value(owner), interpreter.word(index)], like)


@model_factory
def _append(name: str) -> Handler:
    """``q.append(value)`` and ``q.appendleft(value)``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 2)
        owner, value = arguments
        container_effects.effect(interpreter, "deque_" + name, owner,
                                 [interpreter.object_value(owner), stored_values.stored_value(interpreter, value)])
        return Const(None)
    return call


@model_factory
def _take(name: str, position: int) -> Handler:
    """``pop`` and ``popleft``: load and check the item, then remove it; no exit follows the removal."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        owner, index = arguments[0], Const(position)
        if expectations.is_dropped(interpreter):
            container_effects.effect(interpreter, "deque_drop", owner,
                                     [interpreter.object_value(owner), interpreter.word(index)])
            return Const(None)
        row = row_of(expectations.expected(interpreter, owner, None))
        item = (item_of_deque(interpreter, owner, index) if row is None
                else taken_tuple(interpreter, "deque_item", [interpreter.object_value(owner),
                                                             interpreter.word(index)], row))
        container_effects.changing_container(interpreter, owner)
        interpreter.emit("deque_take", [interpreter.object_value(owner), interpreter.word(index)], None)
        return item
    return call


def row_of(like: Abstract) -> Optional[Object]:
    """The type of a tuple of numbers, arrays and strings, or of a list of numbers,
    which may be freed here; else None."""
    kind = type_of(like)
    if isinstance(kind, ListOf):
        return kind
    if not isinstance(kind, Holding) or kind.python is not tuple:
        return None
    plain = all(isinstance(part, (Scalar, Array)) or part.python is str for part in kind.items)
    return kind if plain else None


def taken_tuple(interpreter: Interpreter, read: str, operands: List[Value], row: Object) -> Abstract:
    """A tuple or list that will be removed from its container.
    A tuple that is unpacked at once need not be kept alive."""
    owner, index = operands
    found = expectations.typed_item(interpreter, read, owner, index, row)
    if (isinstance(found, Sequence)
            and unpacks_sequence(interpreter.function.instructions[interpreter.instr.index + 1])):
        return Sequence(list(found.items))
    held = cast(Union[Instance, Sequence], found).value
    interpreter.emit("hold", [cast(Value, held)], None, exits=True)
    return found


for _side, _position in (("", -1), ("left", 0)):
    models(deque, "append" + _side)(_append("append" + _side))
    models(deque, "pop" + _side)(_take("pop" + _side, _position))
