"""``d.popitem()`` and ``s.pop()``: load and check the entry, then remove it.

`catalogue` imports it. No exit may follow the removal.
"""

from __future__ import annotations

from typing import List, Optional, cast

from pijit.core.bytecode.instructions.predicates import unpacks_sequence
from pijit.core.capture.models.containers import constructions, container_effects, expectations
from pijit.core.capture.models.containers.expectations import KEYED
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import model_factory, models
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.element_types import type_of
from pijit.core.capture.values.key_value_types import expected_entries, kinds_of_entries
from pijit.core.capture.values.lattice import Abstract, Instance, Sequence, class_of
from pijit.core.errors import Break
from pijit.core.graph.ops.objects import ENTRY_PARTS
from pijit.core.graph.types import FLAG, WORD, Array, Object, Scalar, Type


@model_factory
def _take(name: str) -> Handler:
    """``d.popitem()`` and ``s.pop()``."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, name, 1)
        owner = arguments[0]
        kinds = _expected(interpreter, owner)
        found = interpreter.object_value(owner)
        end, zero = interpreter.emit("taken_entry", [found], WORD), interpreter.emit("const", [], WORD, {"value": 0})
        interpreter.emit("require", [interpreter.emit("compare", [end, zero], FLAG, {"operator": ">"})], None,
                         exits=True)
        items = [expectations.typed_item(interpreter, read, found, end, kind)
                 for read, kind in zip(ENTRY_PARTS, kinds)]
        container_effects.changing_container(interpreter, owner)
        interpreter.emit("take_entry", [found], None, exits=True)
        if class_of(owner) is set:
            return items[0]
        unpacked = unpacks_sequence(interpreter.function.instructions[interpreter.instr.index + 1])
        return Sequence(items) if unpacked else constructions.new_tuple(interpreter, items)
    return call


def _expected(interpreter: Interpreter, owner: Abstract) -> List[Type]:
    """The types of the key and the value, or of the member;
    Break for objects that only bytecode keeps alive long enough."""
    kinds: List[Optional[Type]] = list(kinds_of_entries(Instance(expected_entries(owner))) or ())
    if not kinds:
        observed = interpreter.context.types.feedback.get(interpreter.instr.index)
        if observed is None:
            raise Break("PJ218")
        kinds = [type_of(item) for item in (observed.items if isinstance(observed, Sequence) else [observed])]
    if len(kinds) != (1 if class_of(owner) is set else 2) or not all(
            isinstance(kind, (Scalar, Array)) or kind == Object(str) for kind in kinds):
        raise Break("PJ203", operand=describe(owner))
    return cast(List[Type], kinds)


models(KEYED, "popitem")(_take("popitem"))
models(set, "pop")(_take("pop"))
