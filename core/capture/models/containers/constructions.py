"""Containers that captured code makes: lists, dicts and tuples, and values in the form in which these hold them.

Models and the interpreter's instructions call these functions; `literals` describes the objects.
"""

from __future__ import annotations

from typing import Any, Dict, List, cast

from pijit.core.capture.models.containers.expectations import ITEM_KEYS
from pijit.core.capture.models.objects import stored_values
from pijit.core.capture.models.objects.composites import held_method, is_unmade, made_slice
from pijit.core.capture.models.objects.materialize import made_object
from pijit.core.capture.models.objects.stored_values import made_range
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.base import HOLDERS
from pijit.core.capture.values.lattice import (
    Abstract,
    BoundFunction,
    CellRef,
    Const,
    KnownContainer,
    Method,
    Range,
    Sequence,
    StackSlice,
    UnmadeArray,
    pointer_class,
)
from pijit.core.capture.values.virtual_object import StackTuple, virtual_objects_in
from pijit.core.errors import Break
from pijit.core.graph.draws import is_pythons_draw
from pijit.core.graph.types import Object
from pijit.guards.facts import is_among, is_exactly


def as_object(interpreter: Interpreter, value: Abstract) -> Abstract:
    """A value in the form in which more than the operand stack can hold it."""
    if isinstance(value, UnmadeArray):
        raise Break("PJ203", operand="view or result of a memmap")
    if isinstance(value, StackSlice):
        return made_slice(interpreter, value)
    if isinstance(value, Range):
        return made_range(interpreter, value)
    if isinstance(value, Method) and is_among(pointer_class(value.owner), HOLDERS):
        return held_method(interpreter, value)
    if (isinstance(value, BoundFunction) and isinstance(value.function, Const)
            and is_pythons_draw(value.function.object)):
        interpreter.use(value.function)
        return held_method(interpreter, Method(value.owner, value.function.object.__name__))
    if not isinstance(value, StackTuple) and not is_unmade(value):
        return value
    made = new_tuple(interpreter, [as_object(interpreter, item) for item in cast(Sequence, value).items])
    made.defined_at = value.defined_at
    return made


def new_tuple(interpreter: Interpreter, items: List[Abstract]) -> Sequence:
    """A new tuple of these values. One with slices is an index and one of cells is a closure;
    these are no objects."""
    if any(isinstance(item, UnmadeArray) for item in items):
        raise Break("PJ203", operand="view or result of a memmap")
    if any(isinstance(item, CellRef) or is_unmade(item) for item in items):
        return Sequence(items)
    items = shared(interpreter, items)
    parts = [stored_values.stored_value(interpreter, interpreter.alone(item)) for item in items]
    return Sequence(items, value=interpreter.emit("new_tuple", parts, Object(tuple)))


def new_list(interpreter: Interpreter, items: List[Abstract]) -> KnownContainer:
    """A new list of these values."""
    items = shared(interpreter, [as_object(interpreter, item) for item in items])
    made = interpreter.emit("new_list", [stored_values.stored_value(interpreter, item) for item in items], Object(list))
    return KnownContainer(Object(list), None, items, made)


def new_dict(interpreter: Interpreter, keys: List[Any], values: List[Abstract]) -> KnownContainer:
    """A new dict of these keys, each an int or a string, and values."""
    if any(not is_exactly(key, ITEM_KEYS) for key in keys) or len(set(keys)) != len(keys):
        raise Break("PJ216", keys="equal, or no ints and strings")
    values = shared(interpreter, [as_object(interpreter, value) for value in values])
    pairs = [stored_values.stored_value(interpreter, part) for key, value in zip(keys, values)
             for part in (Const(key), value)]
    return KnownContainer(Object(dict), tuple(keys), values, interpreter.emit("new_dict", pairs, Object(dict)))


def shared(interpreter: Interpreter, values: List[Abstract]) -> List[Abstract]:
    """The values as they are once a container holds them: their virtual objects have been made."""
    if not any(isinstance(value, StackTuple) or any(True for _ in virtual_objects_in(value)) for value in values):
        return values
    stack, base = interpreter.state.stack, len(interpreter.state.stack)
    stack += values
    made: Dict[int, Abstract] = {}
    for position, value in enumerate(values, base):
        now = made.get(id(value)) or as_object(interpreter, interpreter.state.stack[position])
        made[id(value)] = interpreter.state.stack[position] = now
        for virtual in virtual_objects_in(now):
            made_object(interpreter, virtual)
    found = interpreter.state.stack[base:]
    del interpreter.state.stack[base:]
    return found
