"""Kernel-local values: pending call operands, functions that are called on the spot, iterables that have not begun.

No exit passes them to bytecode, and no segment starts with them. `lattice.py` lists them together with the others.
"""

from __future__ import annotations

import copy
import types
from typing import Any, Dict, List, Optional, Tuple, cast

from pijit.core.capture.values.base import Abstract, Join, Unknown, forgotten_parts, joined_parts
from pijit.guards import guard as kinds


class PendingOperand(Abstract):
    """An operand of a call that stays on the operand stack until the call; its parts may change before."""

    __slots__ = ()
    has_parts = True

    @property
    def lasting_parts(self) -> Tuple[Abstract, ...]:
        return ()

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        """The join of two pending call operands, for example the same method of objects that can be joined."""
        if type(self) is not type(other):
            return None
        if len(self.parts) == len(other.parts) and self.with_parts(other.parts) == other:
            parts = joined_parts(self, other, join)
            if self == other or not any(part.knows_nothing() for part in parts):
                return self.with_parts(parts)
        return Unknown("PJ213", self.defined_at)

    def forgotten(self) -> Abstract:
        return self.with_mapped_parts(lambda part: part.forgotten())


class Method(PendingOperand):
    """A method of an array or a container that is looked up and not called yet. It cannot leave a kernel."""

    __slots__ = ("owner", "name")

    def __init__(self, owner: Abstract, name: str, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.owner = owner
        self.name = name

    def key(self) -> Any:
        return (self.owner, self.name)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.owner,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Method":
        return Method(parts[0], self.name, self.defined_at)


class BoundFunction(PendingOperand):
    """A Python function looked up on an object and not called yet; ``owner`` is its first argument."""

    __slots__ = ("function", "owner")

    def __init__(self, function: Abstract, owner: Abstract, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.function = function
        self.owner = owner

    def key(self) -> Any:
        return (self.function, self.owner)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.function, self.owner

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "BoundFunction":
        changed = copy.copy(self)
        changed.function, changed.owner = parts
        return changed


class Keywords(PendingOperand):
    """The dict of ``**keywords``, which may be read or passed on; ``items`` by name."""

    __slots__ = ("items",)

    def __init__(self, items: Dict[str, Abstract], defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.items = items

    def key(self) -> Any:
        return tuple(self.items.items())

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return tuple(self.items.values())

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Keywords":
        return Keywords(dict(zip(self.items, parts)), self.defined_at)


class Super(PendingOperand):
    """A super object: it looks up attributes of ``owner`` in the classes that follow ``cls`` in the resolution order.
    """

    __slots__ = ("cls", "owner")

    def __init__(self, cls: type, owner: Abstract, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.cls = cls
        self.owner = owner

    def key(self) -> Any:
        return (id(self.cls), self.owner)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.owner,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Super":
        return Super(self.cls, parts[0], self.defined_at)


class CellRef(PendingOperand):
    """A cell that becomes part of the closure of a new function; ``content`` is the value in it."""

    __slots__ = ("content",)

    def __init__(self, content: Abstract, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.content = content

    def key(self) -> Any:
        return self.content

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.content,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "CellRef":
        return CellRef(parts[0], self.defined_at)


class UnescapedFunction(Abstract):
    """A function that is called on the spot. ``free`` are the values of its free variables, ``context`` its maker's
    context.

    ``name`` is its ``__qualname__`` if the program defines it; its free variables are then variables of its maker.
    """

    __slots__ = ("code", "free", "context", "name")
    has_parts = True

    def __init__(self, code: types.CodeType, free: Tuple[Abstract, ...], context: Any, defined_at: int = -1,
                 name: Optional[str] = None) -> None:
        super().__init__(None, defined_at)
        self.code = code
        self.free = free
        self.context = context
        self.name = name

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.free

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "UnescapedFunction":
        """The same with other values for its free variables."""
        return UnescapedFunction(self.code, parts, self.context, self.defined_at, self.name)

    def forgotten(self) -> "UnescapedFunction":
        parts = forgotten_parts(self.free)
        return self.with_parts(parts) if parts is not None else self

    def rooted(self, root: Any, keep: bool = False) -> "UnescapedFunction":
        if self.name is None:
            return self
        copy = self.with_parts(self.free)
        copy.root = root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.FunctionCode(source, self.code)]

    def key(self) -> Any:
        return (id(self.code), self.context.identity(), self.free)


class Lazy(Abstract):
    """A generator expression, ``map`` or ``filter`` that has not begun: the items that ``made`` yields over
    ``iterator``."""

    __slots__ = ("made", "iterator")
    has_parts = True

    def __init__(self, made: UnescapedFunction, iterator: Abstract, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.made = made
        self.iterator = iterator

    def key(self) -> Any:
        return (self.made, self.iterator)

    def forgotten(self) -> Abstract:
        return self if forgotten_parts(self.parts) is None else Unknown("PJ209", self.defined_at)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.made, self.iterator)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Lazy":
        return Lazy(cast(UnescapedFunction, parts[0]), parts[1], self.defined_at)


class Borrowed(Abstract):
    """The iterator in the variable ``name`` as the argument of a call of ``next``. It stays in the variable."""

    __slots__ = ("name",)

    def __init__(self, name: str, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.name = name

    def key(self) -> Any:
        return self.name


class Null(Abstract):
    """The empty slot that LOAD_METHOD pushes. It cannot leave a kernel."""

    __slots__ = ()
