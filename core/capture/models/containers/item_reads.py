"""``owner[index]`` of a tuple, list, dict, deque or range, also for slices.

The interpreter's subscripts and models that read items call these functions.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any, List, Optional

from pijit.core.capture.models.containers import constructions, contents, expectations, reads
from pijit.core.capture.models.containers.contents import is_container, known_position, named_items
from pijit.core.capture.models.containers.deques import item_of_deque
from pijit.core.capture.models.containers.expectations import ITEM_KEYS
from pijit.core.capture.models.containers.ranges import range_item
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.element_types import list_type
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    Keywords,
    KnownContainer,
    Slice,
    class_of,
    number_type,
)
from pijit.core.capture.values.virtual_object import is_virtual_tuple
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.types import INT, ListOf, Object, TupleOf
from pijit.guards.facts import is_among, is_exactly


def container_item(interpreter: Interpreter, owner: Abstract, index: Abstract) -> Abstract:
    """``owner[index]`` of a tuple, list, dict or deque."""
    if isinstance(index, Slice) and class_of(owner) is not range:
        if class_of(owner) is list and not contents.is_short(interpreter, owner):
            return part_of(interpreter, owner, index.parts)
        return sliced(interpreter, owner, slice(*[_bound(interpreter, part) for part in index.parts]))
    if class_of(owner) is range:
        return range_item(interpreter, owner, index)
    if isinstance(owner, Instance) and isinstance(owner.type, ListOf):
        return contents.list_item(interpreter, owner, interpreter.word(index))
    if isinstance(owner, Instance) and isinstance(owner.type, TupleOf):
        return reads.item_of_tuple(interpreter, owner, interpreter.word(index))
    fields = named_items(interpreter, owner)
    if fields is not None:
        return container_item(interpreter, constructions.new_tuple(interpreter, fields), index)
    if class_of(owner) is deque:
        return item_of_deque(interpreter, owner, index)
    if is_among(class_of(owner), (defaultdict, Counter)):
        return reads.read_now(interpreter, owner, index)
    key = interpreter.constant(index)
    if isinstance(owner, Keywords):
        if type(key) is not str or key not in owner.items:
            raise Break("PJ205", index=describe(index))
        return owner.items[key]
    if _is_read_now(interpreter, owner, key, index):
        return reads.read_now(interpreter, owner, index)
    if is_container(owner):
        return contents.item(interpreter, owner, key)
    if isinstance(owner, KnownContainer):
        position = known_position(owner, key)
        if position is None:
            raise Break("PJ205", index=describe(index))
        return owner.items[position]
    items = contents.items_of(interpreter, owner)
    if items is None:
        raise Break("PJ205", object=describe(owner))
    if type(key) is not int:
        raise Break("PJ205", index=describe(index))
    if not -len(items) <= key < len(items):
        beyond = Break("PJ205", index=describe(index))
        beyond.raises = True
        raise beyond
    return items[key]


def _is_read_now(interpreter: Interpreter, owner: Abstract, key: Any, index: Abstract) -> bool:
    """Whether the kernel reads an item at run time, because it is no heap location and guards do not hold it."""
    if class_of(owner) is dict:
        return expectations.is_changing(interpreter, owner) or not is_exactly(key, ITEM_KEYS)
    if key is None:
        kind, has_items = number_type(index), is_among(class_of(owner), (list, tuple)) or is_container(owner)
        return kind is not None and kind.dtype.kind in "iu" and has_items
    return expectations.is_changing(interpreter, owner) and locations.item_location(interpreter, owner, key) is None


def _bound(interpreter: Interpreter, part: Abstract) -> Optional[int]:
    known: Optional[int] = interpreter.constant(part)
    if type(known) is not int and part != Const(None):
        interpreter.context.base.types.ranges.require_constants(interpreter.capture_point())
        raise Break("PJ205", index=describe(part))
    return known


def items_or_break(interpreter: Interpreter, value: Abstract) -> List[Abstract]:
    """All items of a tuple or list, with their guards."""
    items = contents.items_of(interpreter, value)
    if items is None:
        raise Break("PJ203", operand=describe(value))
    return [interpreter.use(item) for item in items]


def sliced(interpreter: Interpreter, owner: Abstract, part: slice) -> Abstract:
    """``owner[part]`` of a tuple or list; all of a tuple is the tuple itself."""
    items = items_or_break(interpreter, owner)
    chosen = range(len(items))[part]
    if class_of(owner) is list:
        return constructions.new_list(interpreter, [items[k] for k in chosen])
    exact = class_of(owner) is tuple
    if not exact and not is_virtual_tuple(owner) and not is_container(owner):
        raise Break("PJ205", object=describe(owner))
    itself = exact and chosen == range(len(items))
    return owner if itself else constructions.new_tuple(interpreter, [items[k] for k in chosen])


def made_by(interpreter: Interpreter, function: str, kind: Object, operands: List[Value]) -> Instance:
    """A new container that a function returns."""
    attrs = {"function": function, "keywords": ()}
    return Instance(kind, interpreter.emit("invoke", operands, kind, attrs, exits=True))


def part_of(interpreter: Interpreter, owner: Abstract, parts: Any) -> Abstract:
    """``owner[start:stop:step]`` of a list whose items are not known one by one; the bounds are integers or None."""
    for part in parts:
        if part != Const(None) and number_type(part) != INT:
            raise Break("PJ205", index=describe(part))
    operands = [interpreter.object_value(owner)] + [stored_values.stored_value(interpreter, part) for part in parts]
    return made_by(interpreter, "helpers.part_of", list_type(owner), operands)
