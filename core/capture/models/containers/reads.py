"""Container reads at run time: at a computed position, or of a container that captured code changes.

The kernel reads an item when the instruction is reached. It exits before the read where the item is missing or of
another type. So earlier effects and aliases of the container do not matter.

`expectations` has the expected types.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Optional, cast

from pijit.core.capture.models.containers import contents, expectations, key_operands
from pijit.core.capture.models.containers.counter_class import rely_if_counter, rely_on_counter
from pijit.core.capture.models.containers.expectations import KEYED, list_of_elements
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.predicted_exceptions import found_or_raised
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.element_types import type_of
from pijit.core.capture.values.lattice import Abstract, Const, Instance, Number, OpaqueObject, class_of, number_type
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import BOOL, FLAG, INT, Holding, ListOf, TupleOf
from pijit.guards.facts import is_among


def read_now(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]``, read at run time."""
    key = interpreter.constant(index) if is_among(class_of(owner), KEYED) or isinstance(index, Const) else None
    if isinstance(owner, Instance) and isinstance(owner.type, Holding) and owner.type.python is list:
        return item_of_list(interpreter, owner, interpreter.word(index))
    if isinstance(owner, OpaqueObject) and type(owner.sample) is list and not isinstance(index, Const):
        sampled = list_of_elements(interpreter, owner.sample, owner.sample)
        if sampled is not None:
            return item_of_list(interpreter, Instance(sampled, interpreter.object_value(owner)),
                                interpreter.word(index))
    if is_among(class_of(owner), KEYED):
        if class_of(owner) is Counter:
            rely_on_counter(interpreter, "__getitem__", "__missing__")
            count = count_of(interpreter, owner, index, key)
            if count is not None:
                return count
        like = expectations.expected(interpreter, owner, key)
        return (found_or_raised(interpreter, owner, index, like)
                or expectations.found(interpreter, *key_operands.keyed(interpreter, "load_key", owner, index), like))
    if isinstance(owner, OpaqueObject) and is_among(type(owner.sample), (tuple, list)):
        if len(owner.sample) <= interpreter.context.unrolling:
            interpreter.context.base.types.ranges.select(owner.sample, interpreter.capture_point())
    return expectations.found(interpreter, "load_item", key_operands.item_operands(interpreter, owner, index),
                              expectations.expected(interpreter, owner, key))


def item_of_list(interpreter: Interpreter, owner: Instance, index: Value) -> Abstract:
    """The item at a WORD index of a list that has an expected item type."""
    if isinstance(owner.type, ListOf):
        return contents.list_item(interpreter, owner, index)
    kind = cast(Holding, owner.type).items
    return expectations.typed_item(interpreter, "load_item", interpreter.object_value(owner), index, kind)


def item_of_tuple(interpreter: Interpreter, owner: Instance, index: Value) -> Abstract:
    """The item at a WORD index of a tuple of unknown length."""
    kind = cast(TupleOf, owner.type).items
    return expectations.typed_item(interpreter, "load_item", interpreter.object_value(owner), index, kind)


def has_key_now(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``index in owner`` of a dict or set that changes, or of any computed key."""
    rely_if_counter(interpreter, owner, "__contains__")
    operands = [interpreter.object_value(owner), key_operands.key_value(interpreter, index)]
    flag = interpreter.emit("has_key", operands, FLAG, exits=True)
    return Number(BOOL, interpreter.emit("flag", [flag], BOOL))


def get_now(interpreter: Interpreter, owner: Abstract, index: Abstract, default: Abstract) -> Abstract:
    """``owner.get(index, default)`` of a dict that changes: the item must be of the default's type."""
    observed = interpreter.context.types.feedback.get(interpreter.instr.index)
    if default == Const(None) and (observed is None or number_type(observed) is not None):
        like = expectations.expected(interpreter, owner, interpreter.constant(index))
        # it exits where the key is missing
        return expectations.found(interpreter, *key_operands.keyed(interpreter, "load_key", owner, index), like)
    expect_like(interpreter, default)
    name, operands = key_operands.keyed(interpreter, "get_key", owner, index)
    return expectations.found(interpreter, name, operands + [stored_values.stored_value(interpreter, default)], default)


def expect_like(interpreter: Interpreter, default: Abstract) -> None:
    """Expect an item of the default's type; Break where earlier runs had another type."""
    observed = interpreter.context.types.feedback.get(interpreter.instr.index)
    if observed is not None and type_of(observed) != type_of(default):
        raise Break("PJ213")
    interpreter.context.findings.guessed.add(interpreter.instr.index)


def count_of(interpreter: Interpreter, owner: Abstract, index: Abstract, key: Any) -> Optional[Abstract]:
    """``owner[index]`` where an int is expected, zero for a missing key; None where another type is expected."""
    try:
        like = expectations.expected(interpreter, owner, key)
    except Break as error:
        if error.reason_id != "PJ218":
            raise
        like = Const(0)
    if number_type(like) != INT:
        return None
    name, operands = key_operands.keyed(interpreter, "get_key", owner, index)
    return expectations.found(interpreter, name, operands + [stored_values.stored_value(interpreter, Const(0))],
                              Const(0))
