"""Literals of tuples, lists, dicts and sets: the contents are known until something may change them.

A list or dict is made at once, as a real object with one identity. Its operation is removed where nothing needs the
object. `interpreter/container_literals.py` interprets the instructions. `AbstractInterpreter` binds these functions.
"""

from __future__ import annotations

from typing import Any, List, Optional, cast

from pijit.core.capture.models.containers.contents import is_container
from pijit.core.capture.models.containers.ranges import made_range
from pijit.core.capture.models.containers.sequences import JOINS
from pijit.core.capture.models.numpy.random import is_pythons_draw
from pijit.core.capture.models.objects.composites import held_method, is_unmade, made_slice
from pijit.core.capture.models.objects.instances import shared
from pijit.core.capture.models.objects.named_tuples import require_holdable
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.base import HOLDERS
from pijit.core.capture.values.key_value_types import type_of_set
from pijit.core.capture.values.lattice import (
    Abstract,
    BoundFunction,
    CellRef,
    Const,
    Instance,
    KnownContainer,
    Method,
    Range,
    Sequence,
    StackSlice,
    class_of,
    pointer_class,
)
from pijit.core.capture.values.virtual_object import FRESH, StackTuple, VirtualObject, is_row
from pijit.core.errors import Break
from pijit.core.graph.types import Object
from pijit.guards.facts import is_among, is_exactly

KEY_CLASSES = (int, str)


def as_object(interpreter: Interpreter, value: Abstract) -> Abstract:
    """A value in the form in which more than the operand stack can hold it."""
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
    made = interpreter.new_tuple(list(map(interpreter.as_object, cast(Sequence, value).items)))
    made.defined_at = value.defined_at
    return made


def new_tuple(interpreter: Interpreter, items: List[Abstract]) -> Sequence:
    """A new tuple of these values. One with slices is an index and one of cells is a closure;
    these are no objects."""
    if any(isinstance(item, CellRef) or is_unmade(item) for item in items):
        return Sequence(items)
    items = shared(interpreter, items)
    parts = [interpreter.stored_value(interpreter.alone(item)) for item in items]
    return Sequence(items, value=interpreter.emit("new_tuple", parts, Object(tuple)))


def new_list(interpreter: Interpreter, items: List[Abstract]) -> KnownContainer:
    """A new list of these values."""
    items = shared(interpreter, list(map(interpreter.as_object, items)))
    made = interpreter.emit("new_list", [interpreter.stored_value(item) for item in items], Object(list))
    return KnownContainer(Object(list), None, items, made)


def new_virtual_list(interpreter: Interpreter, items: List[Abstract]) -> VirtualObject:
    """A new list of these values, which is never made; see `is_virtual_list`."""
    for item in items:
        require_holdable(item)
    names = tuple(map(str, range(len(items))))
    made = VirtualObject(Const(list), next(FRESH)).like(names=names, items=tuple(map(interpreter.as_object, items)))
    made.defined_at = interpreter.instr.index
    return made


def new_dict(interpreter: Interpreter, keys: List[Any], values: List[Abstract]) -> KnownContainer:
    """A new dict of these keys, each an int or a string, and values."""
    if any(not is_exactly(key, KEY_CLASSES) for key in keys) or len(set(keys)) != len(keys):
        raise Break("PJ216", keys="equal, or no ints and strings")
    values = shared(interpreter, list(map(interpreter.as_object, values)))
    pairs = [interpreter.stored_value(part) for key, value in zip(keys, values) for part in (Const(key), value)]
    return KnownContainer(Object(dict), tuple(keys), values, interpreter.emit("new_dict", pairs, Object(dict)))


def of_sequences(interpreter: Interpreter, symbol: str, left: Abstract, right: Abstract) -> Optional[Abstract]:
    """An operator on tuples, lists or sets; None for other operands."""
    return JOINS[symbol](interpreter, left, right) if symbol in JOINS else None


def new_set(interpreter: Interpreter, items: List[Abstract]) -> Instance:
    """A new set of these values."""
    for item in items:
        interpreter.require_key(item)
    return Instance(type_of_set(items),
                    interpreter.emit("new_set", [interpreter.stored_value(item) for item in items], Object(set)))


def items_or_break(interpreter: Interpreter, value: Abstract) -> List[Abstract]:
    """All items of a tuple or list, with their guards."""
    items = interpreter.items_of(value)
    if items is None:
        raise Break("PJ203", operand=describe(value))
    return [interpreter.use(item) for item in items]


def sliced(interpreter: Interpreter, owner: Abstract, part: slice) -> Abstract:
    """``owner[part]`` of a tuple or list; all of a tuple is the tuple itself."""
    items = items_or_break(interpreter, owner)
    chosen = range(len(items))[part]
    if class_of(owner) is list:
        return interpreter.new_list([items[k] for k in chosen])
    exact = class_of(owner) is tuple
    if not exact and not is_row(owner) and not is_container(owner):
        raise Break("PJ205", object=describe(owner))
    itself = exact and chosen == range(len(items))
    return owner if itself else interpreter.new_tuple([items[k] for k in chosen])


