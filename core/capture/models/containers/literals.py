"""Literals of tuples, lists, dicts and sets: the contents are known until something may change them.

A list or dict is made at once, as a real object with one identity. Its operation is removed where nothing needs the
object. `interpreter/container_literals.py` interprets the instructions.
"""

from __future__ import annotations

from typing import List, Optional

from pijit.core.capture.models.containers import constructions, key_operands
from pijit.core.capture.models.containers.sequences import JOINS
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.named_tuples import require_holdable
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.key_value_types import type_of_set
from pijit.core.capture.values.lattice import Abstract, Const, Instance
from pijit.core.capture.values.virtual_object import FRESH, VirtualObject
from pijit.core.graph.types import Object


def new_virtual_list(interpreter: Interpreter, items: List[Abstract]) -> VirtualObject:
    """A new list of these values, which is never made; see `is_virtual_list`."""
    for item in items:
        require_holdable(item)
    names = tuple(map(str, range(len(items))))
    made = VirtualObject(Const(list), next(FRESH))
    made = made.like(names=names, items=tuple(constructions.as_object(interpreter, item) for item in items))
    made.defined_at = interpreter.instr.index
    return made


def of_sequences(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """An operator on tuples, lists or sets; None for other operands."""
    return JOINS[symbol](interpreter, left, right) if symbol in JOINS else None


def new_set(interpreter: Interpreter, items: List[Abstract]) -> Instance:
    """A new set of these values."""
    for item in items:
        key_operands.require_key(interpreter, item)
    return Instance(type_of_set(items),
                    interpreter.emit("new_set", [stored_values.stored_value(interpreter, item) for item in items],
                                     Object(set)))
