"""Virtual objects: objects whose allocation is deferred (escape analysis, scalar replacement).

A virtual object stands for the object in all variables that hold it and knows the values of its attributes. The object
is allocated where it escapes or where a kernel exits. Models of objects make them; the graph builder passes and
allocates them. It must not emit operations.
"""

from __future__ import annotations

import itertools
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Tuple, cast

from pijit.core.capture.values.base import Join, forgotten_parts, joined_parts
from pijit.core.capture.values.lattice import Abstract, Const, Sequence
from pijit.core.graph.ir import Value
from pijit.core.graph.types import CELL
from pijit.guards import guard as kinds
from pijit.guards.reading import class_value
from pijit.guards.source import Attr, Inner, Item, TypeOf

if TYPE_CHECKING:
    from typing import TypeGuard

FRESH = itertools.count(1000000)
CONTENT = "cell_contents"
"""The attribute that holds the content of a cell."""


class VirtualObject(Abstract):
    """A virtual instance of the plain class ``python``. ``cls`` is the path to the class, ``items`` the attributes in
    order.

    Two virtual objects of one state are the same object exactly if they have the same ``token``. Objects of the callers
    have negative tokens. ``writable``: only variables hold the object, so a store changes nothing but this abstract
    value. ``shared``: the object exists and ``value`` carries it. ``settled``: bytecode may have been executed before,
    so the segment may have found a real object; ``origin`` is its address, or 0. ``changed``: attributes of that object
    may differ from these and may have to be written.
    """

    __slots__ = ("python", "cls", "names", "items", "token", "writable", "shared", "settled",
                 "changed", "value", "origin")
    has_parts = True

    def __init__(self, cls: Const, token: int) -> None:
        super().__init__()
        self.python: type = cls.object
        self.cls = cls
        self.names: Tuple[str, ...] = ()
        self.items: Tuple[Abstract, ...] = ()
        self.token = token
        self.writable = True
        self.shared = self.settled = self.changed = False
        self.value: Optional[Value] = None
        self.origin: Optional[Value] = None

    def key(self) -> Any:
        flags = self.writable, self.shared, self.settled, self.changed
        return id(self.python), self.names, self.items, self.token, flags

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.items

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "VirtualObject":
        return self.like(items=parts)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if not isinstance(other, VirtualObject) or not self.is_like(other):
            return None
        items = joined_parts(self, other, join)
        known = self == other or not any(item.knows_nothing() for item in items)
        return self.covering(other, items) if known else None

    def knows_nothing(self) -> bool:
        return any(item.knows_nothing() for item in self.items)

    def forgotten(self) -> "VirtualObject":
        items = forgotten_parts(self.items)
        return self.like(items=items) if items is not None else self

    def rooted(self, root: Any, keep: bool = False) -> "VirtualObject":
        cls = Const(self.python)
        cls.root = TypeOf(root) if root is not None else None
        items = tuple(item.rooted(None) for item in self.items)
        return self.like(cls=cls, items=items, value=None, origin=None, settled=True, root=root)

    def paths(self, root: Any) -> List[Any]:
        """The paths to the attributes or items of the object at ``root``."""
        if is_virtual_tuple(self):
            return [Item(root, position) for position in range(len(self.items))]
        step = Inner if is_cell(self) else Attr
        return [step(root, name) for name in self.names]

    def guards(self, source: Any) -> List[Any]:
        own = kinds.OwnCountIs(source, len(names_in_dict(self)))
        items = kinds.LengthIs(source, len(self.items))
        return [kinds.IsType(source, self.python)] + [items] * self.is_sequence() + [own] * has_dict(self.python)

    def like(self, **changes: Any) -> "VirtualObject":
        """A copy with some attributes changed."""
        copy = VirtualObject(self.cls, self.token)
        for name in ("source", "defined_at", "root") + VirtualObject.__slots__:
            setattr(copy, name, changes[name] if name in changes else getattr(self, name))
        return copy

    def is_like(self, other: "VirtualObject") -> bool:
        """Whether two virtual objects differ in the values of their attributes alone."""
        return self.python is other.python and self.names == other.names and self.token == other.token

    def is_sequence(self) -> bool:
        """Whether its items are those of a tuple or list, not attributes."""
        return issubclass(self.python, (tuple, list))

    def holding(self, name: str, value: Abstract) -> "VirtualObject":
        """The virtual object after a store."""
        held = dict(zip(self.names, self.items))
        held[name] = value
        changed = self.settled and not self.shared
        return self.like(names=tuple(held), items=tuple(held.values()), root=None, changed=changed)

    def covering(self, other: "VirtualObject", items: Iterable[Abstract]) -> "VirtualObject":
        """The join of this virtual object and another one of the same object, with joined ``items``."""
        return self.like(items=tuple(items), writable=self.writable and other.writable,
                         shared=self.shared or other.shared, settled=self.settled or other.settled,
                         changed=self.changed or other.changed, value=None, origin=None, root=None)


class StackTuple(Sequence):
    """A tuple of objects that only the operand stack holds. It is allocated only where it leaves the stack."""

    __slots__ = ()


def mapped(value: Abstract, change: Callable[[VirtualObject], VirtualObject]) -> Abstract:
    """A value with every virtual object in it replaced. The same object is returned if it has none."""
    if not value.has_parts:
        return value
    if isinstance(value, VirtualObject):
        return change(cast(VirtualObject, value.with_mapped_parts(lambda part: mapped(part, change))))
    return value.with_mapped_parts(lambda part: mapped(part, change))


def virtual_objects_in(value: Abstract) -> Iterable[VirtualObject]:
    """The virtual objects in a value. Inner ones come first, and the value itself last."""
    if not value.has_parts:
        return ()
    found = [virtual for part in value.parts if part.has_parts for virtual in virtual_objects_in(part)]
    return found + [value] if isinstance(value, VirtualObject) else found


def replace_in(state: Any, change: Callable[[VirtualObject], VirtualObject]) -> None:
    """Replace every virtual object of a state."""
    state.locals = {name: mapped(value, change) if value.has_parts else value for name, value in state.locals.items()}
    state.stack = [mapped(value, change) if value.has_parts else value for value in state.stack]


def find_in(state: Any, token: int) -> Optional[VirtualObject]:
    """The virtual object with a token in a state."""
    for value in itertools.chain(state.locals.values(), state.stack):
        for virtual in virtual_objects_in(value):
            if virtual.token == token:
                return virtual
    return None


def numbered(state: Any, settles: bool) -> Any:
    """The state with tokens renumbered by the order of its virtual objects, so that equivalent states compare equal.

    ``settles``: the state can also be reached from bytecode, which has real objects.
    """
    if not any(map(virtual_objects_in, itertools.chain(state.locals.values(), state.stack))):
        return state
    ordered = [state.locals[name] for name in sorted(state.locals)] + state.stack
    found = [virtual for value in ordered for virtual in virtual_objects_in(value)]
    tokens: Dict[int, int] = {}
    for virtual in found:
        tokens.setdefault(virtual.token, virtual.token if virtual.token < 0 else len(tokens))
    replace_in(state, lambda virtual: virtual.like(token=tokens[virtual.token],
                                                 settled=virtual.settled or settles))
    return state


BORROWED_PREFIX = "location: object "
"""Prefix of the names under which an inlined callee's state holds the objects of its callers, as locations that it may
write."""


def lend(state: Any) -> List[int]:
    """Mark the virtual objects in an inlined callee's entry state as objects of its callers.

    They get the tokens -1, -2 ... and one name each in the state. Returns their tokens in the caller.
    """
    state.locals = {name: value for name, value in state.locals.items() if not name.startswith(BORROWED_PREFIX)}
    outside: List[int] = []
    for value in state.locals.values():
        outside += [virtual.token for virtual in virtual_objects_in(value) if virtual.token not in outside]
    if not outside:
        return outside
    tokens = {token: -1 - number for number, token in enumerate(outside)}
    replace_in(state, lambda virtual: virtual.like(token=tokens[virtual.token]))
    for token in tokens.values():
        state.locals[BORROWED_PREFIX + str(token)] = find_in(state, token)
    return outside


def taken_back(value: Abstract, outside: List[int], fresh: Dict[int, int]) -> Abstract:
    """A result of a callee in terms of the caller. ``fresh`` maps tokens of objects that the callee has made."""
    def change(virtual: VirtualObject) -> VirtualObject:
        if virtual.token < 0:
            return virtual.like(token=outside[-1 - virtual.token])
        return virtual.like(token=fresh.setdefault(virtual.token, next(FRESH)))

    return mapped(value, change)


_dict_offset = type.__dict__["__dictoffset__"].__get__


def has_dict(kind: type) -> bool:
    """Whether instances of a class have a dict."""
    return _dict_offset(kind) != 0  # type: ignore[no-any-return]


def names_in_dict(virtual: VirtualObject) -> List[str]:
    """The attributes that are stored in the object's dict, not in slots."""
    return [name for name in virtual.names
            if not virtual.is_sequence() and type(class_value(virtual.python, name)) is not types.MemberDescriptorType]


def is_virtual_tuple(value: Abstract) -> TypeGuard[VirtualObject]:
    """Whether a value is a virtual tuple: an object of a tuple subclass that captured code has made.

    The names of its items are their positions, and they never change.
    """
    return isinstance(value, VirtualObject) and issubclass(value.python, tuple)


def is_virtual_list(value: Abstract) -> TypeGuard[VirtualObject]:
    """Whether a value is a virtual list. The names of its items are their positions.

    Only captures with static shapes have them, because these unroll loops. Its object is never made: captures that
    need it break.
    """
    return isinstance(value, VirtualObject) and value.python is list


def is_cell(value: Abstract) -> TypeGuard[VirtualObject]:
    """Whether a value is a cell that captured code has made."""
    return isinstance(value, VirtualObject) and value.python is CELL.python


def has_pointer(virtual: VirtualObject) -> bool:
    """Whether a segment that is being built carries the object's pointer, or an address where it may have been found.
    """
    return virtual.shared or virtual.settled


def renumbered(value: Abstract, like: Abstract) -> Abstract:
    """A value whose virtual objects get the tokens of the virtual objects of an equivalent value."""
    old, new = [[virtual.token for virtual in virtual_objects_in(one)] for one in (value, like)]
    tokens = dict(zip(old, new))
    if all(before == after for before, after in tokens.items()):
        return value
    return mapped(value, lambda virtual: virtual.like(token=tokens.get(virtual.token, virtual.token)))


def may_be_stored_into(virtual: VirtualObject) -> bool:
    """Whether captured code may write to an object."""
    return virtual.writable or virtual.shared
