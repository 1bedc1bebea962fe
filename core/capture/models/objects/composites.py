"""Composites: objects with known parts, such as slices and methods of containers.

Variables, tuples and calls hold them. Made by `literals`; the graph builder passes them from block to block.
"""

from __future__ import annotations

from typing import List, Optional

from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.protocol import Interpreter, Recorder
from pijit.core.capture.values.base import Composite, HeldMethod
from pijit.core.capture.values.lattice import Abstract, Const, Method, Sequence, Slice, StackSlice
from pijit.core.graph.ir import Block, Value
from pijit.core.graph.types import Object


def made_slice(interpreter: Interpreter, value: Slice) -> Slice:
    """A slice object, which is made here."""
    parts = [stored_values.stored_value(interpreter, part) for part in value.parts]
    return Slice(value.parts, value.defined_at, None, interpreter.emit("new_slice", parts, Object(slice)))


def held_method(interpreter: Interpreter, method: Method) -> HeldMethod:
    """A method object, which is made here."""
    operands = [interpreter.object_value(method.owner), interpreter.object_value(Const(method.name))]
    made = interpreter.emit("bound_method", operands, Object(HeldMethod.python))
    return HeldMethod((method.owner.forgotten(),), method.name, method.defined_at, None, made)


def found_composite(interpreter: Recorder, value: Composite) -> Composite:
    """A composite that the segment starts with, and its parts."""
    parts: List[Abstract] = []
    interpreter.note_dict(value.dict_path(value.root))
    sources = value.paths(value.source) if value.source is not None else [None] * len(value.parts)
    for part, path, source in zip(value.parts, value.paths(value.root), sources):
        found = part.rooted(path)
        found.source = source
        parts.append(interpreter.use(found))
    copy = value.like(tuple(parts), value.source, interpreter.segment_input(value.root, Object(value.python)))
    copy.root = value.root
    return copy


def composite_parameters(interpreter: Recorder, value: Composite, block: Block, hint: str,
                      like: Optional[Abstract]) -> Composite:
    """A copy of ``value`` whose parts, and its object if it has one, are parameters of ``block``."""
    made = None if isinstance(value, StackSlice) else interpreter.graph.new_value(Object(value.python), hint)
    block.params += [] if made is None else [made]
    likes = interpreter.use(like).parts if isinstance(like, Composite) else (None,) * len(value.parts)
    parts = tuple(interpreter.block_parameters(part, block, hint, part_like)
                  for part, part_like in zip(value.parts, likes))
    return (like if isinstance(like, Composite) else value).like(parts, None, made)


def composite_values(interpreter: Recorder, wanted: Composite, given: Composite) -> List[Value]:
    """The values for the parameters of `composite_parameters`."""
    parts = [part for want, have in zip(wanted.parts, given.parts) for part in interpreter.value_parts(want, have)]
    return parts if isinstance(wanted, StackSlice) else [interpreter.object_value(given)] + parts


def is_unmade(value: Abstract) -> bool:
    """Whether a value is a slice, or a tuple with one, that only the operand stack holds."""
    return isinstance(value, StackSlice) or isinstance(value, Sequence) and any(map(is_unmade, value.items))
