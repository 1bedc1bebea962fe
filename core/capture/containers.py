"""Tuples, lists and dicts: their items and lengths, read under guards where they come from outside.

An item that is read is fetched again whenever a segment starts, so a caller who changes a container between calls, or
bytecode that changes it between segments, is never answered with what the container held before.
"""

from __future__ import annotations

from typing import Any, Callable, List, Optional

from pijit.core.bytecode.decode import Instr
from pijit.core.capture.conditions import HasLength
from pijit.core.capture.operators import describe
from pijit.core.capture.values import Abstract, Const, Opaque, Sequence, State
from pijit.core.errors import Break
from pijit.guards.source import UNBOUND, Item, SourceError, read_item

CONTAINERS = (tuple, list, dict)
ITEM_KEYS = (int, str)


class Containers:
    """Mixin of the interpreter: what instructions and handlers of calls ask containers."""

    pop: Callable[[], Abstract]
    pop_many: Callable[[int], List[Abstract]]
    push: Callable[[Abstract], None]
    use: Callable[[Abstract], Abstract]
    rely: Callable[[Abstract, Any], None]
    reading: Callable[[Any, Abstract], None]
    known_object: Callable[..., Abstract]
    constant: Callable[[Abstract], Any]
    state: State

    def length_of(self, value: Abstract) -> Optional[int]:
        """``len(value)`` of a tuple, list or dict, or None; a guard holds it there."""
        if isinstance(value, Sequence):
            return len(value.items)
        if isinstance(value, Const) and type(value.object) is tuple:
            return len(value.object)
        if isinstance(value, Opaque) and type(value.sample) in CONTAINERS:
            length = len(value.sample)
            self.reading(type(value.sample), value)
            self.rely(value, HasLength(length))
            return length
        return None

    def items_of(self, value: Abstract) -> Optional[List[Abstract]]:
        """All items of a tuple or list, or None if it is neither."""
        if isinstance(value, Sequence):
            return list(value.items)
        if isinstance(value, Const) and type(value.object) is tuple:
            return [Const(item) for item in value.object]
        if isinstance(value, Opaque) and type(value.sample) in (tuple, list):
            return [self.item(value, position) for position in range(self.length_of(value) or 0)]
        return None

    def item(self, owner: Opaque, key: Any) -> Abstract:
        """``owner[key]`` of a tuple, list or dict that comes from outside."""
        if type(key) not in ITEM_KEYS:
            raise Break("PJ205", index=type(key).__name__)
        try:
            found = read_item(owner.sample, key)
        except SourceError:
            found = UNBOUND
        if found is UNBOUND:
            raise Break("PJ205", index=describe(Const(key)))
        if owner.root is None and owner.source is None:
            raise Break("PJ218")
        self.reading(type(owner.sample), owner)
        source = Item(owner.source, key) if owner.source is not None else None
        root = Item(owner.root, key) if owner.root is not None else None
        return self.known_object(found, source, root)

    def container_item(self, owner: Abstract, index: Abstract) -> Abstract:
        """``owner[index]`` of a tuple, list or dict."""
        key = self.constant(index)
        if isinstance(owner, Opaque) and type(owner.sample) in CONTAINERS:
            return self.item(owner, key)
        items = self.items_of(owner)
        if items is None:
            raise Break("PJ205", object=describe(owner))
        if type(key) is not int or not -len(items) <= key < len(items):
            raise Break("PJ205", index=describe(index))
        return items[key]

    def op_BUILD_TUPLE(self, instr: Instr) -> None:
        self.push(Sequence(self.pop_many(instr.arg or 0)))

    def op_UNPACK_SEQUENCE(self, instr: Instr) -> None:
        value = self.pop()
        items = self.items_of(value)
        if items is None or len(items) != instr.arg:
            raise Break("PJ203", operand=describe(value))
        self.state.stack += reversed(items)
