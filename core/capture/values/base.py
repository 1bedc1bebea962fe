"""Abstract values: the base class, and composites, which stand for immutable objects with known parts.

The concrete classes of the lattice are in `lattice.py`. All of `capture` uses it. It must not import a concrete class.
"""

from __future__ import annotations

import operator
import types
from collections import Counter, defaultdict, deque
from typing import Any, Callable, List, Optional, Tuple

from pijit.core.capture.values.provenance import Root
from pijit.core.graph.draws import is_pythons_generator
from pijit.core.graph.ir import Value
from pijit.guards import guard as kinds
from pijit.guards.facts import is_exactly
from pijit.guards.source import Inner, Item

HOLDERS = (list, dict, set, deque, defaultdict, Counter)
"""The classes whose bound methods a variable may hold as objects."""


Join = Callable[["Abstract", "Abstract"], "Abstract"]


class Abstract:
    """Base of all abstract values.

    ``source`` is the path to the value from function entry, ``root`` that from the start of the segment that is built.
    Each is None when the value is made later. ``defined_at`` is the instruction that made the value. ``has_parts``:
    values of this class may consist of other abstract values.
    """

    __slots__ = ("source", "defined_at", "root")
    has_parts = False

    def __init__(self, source: Any = None, defined_at: int = -1) -> None:
        self.source = source
        self.defined_at = defined_at
        self.root: Any = None

    @property
    def python(self) -> Optional[type]:
        """The class of the Python value, or None if it is not known."""
        return None

    def key(self) -> Any:
        """The facts beyond the class, for comparison."""
        return None

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        """The abstract values inside of this one, in order."""
        return ()

    @property
    def lasting_parts(self) -> Tuple[Abstract, ...]:
        """The parts of a tuple, an iterator, a function or a virtual object.

        A list or dict has none, because other code may replace its items. An operand of a call ends with the call.
        """
        return self.parts if self.has_parts else ()

    def with_parts(self, parts: Tuple[Abstract, ...]) -> Abstract:
        """The same value with other parts."""
        return self

    def with_mapped_parts(self, change: Callable[[Abstract], Abstract]) -> Abstract:
        """The value with every part replaced; the same object if no part changes."""
        parts = self.parts if self.has_parts else ()
        new = tuple(map(change, parts))
        if all(map(operator.is_, new, parts)):
            return self
        copy = self.with_parts(new)
        copy.root = self.root
        return copy

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        """The most precise value of this class that covers both; None if there is none. ``join`` joins parts."""
        return self if self == other else None

    def knows_nothing(self) -> bool:
        """Whether the value, or a part without which it is useless, is unknown or unbound."""
        return False

    def forgotten(self) -> Abstract:
        """The value after any list or dict may have changed."""
        return self

    def rooted(self, root: Any, keep: bool = False) -> Abstract:
        """A copy with the path by which the segment finds the value. Without ``keep`` its SSA values are dropped.

        A value that no segment can find is returned as it is.
        """
        return self

    def guards(self, source: Any) -> List[Any]:
        """The guards that make this abstract value true of the value that ``source`` fetches."""
        raise AssertionError("no guard for %r" % self)

    def __eq__(self, other: object) -> bool:
        return self is other or type(self) is type(other) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(type(self).__name__)

    def __repr__(self) -> str:
        return "%s(%r)" % (type(self).__name__, self.key())


class Unbound(Abstract):
    """A local variable without a value."""

    __slots__ = ()

    def knows_nothing(self) -> bool:
        return True


class Unknown(Abstract):
    """A value of which nothing is known; ``reason`` is the id of the break reason."""

    __slots__ = ("reason",)

    def __init__(self, reason: str = "PJ218", defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.reason = reason

    def knows_nothing(self) -> bool:
        return True

    def rooted(self, root: Any, keep: bool = False) -> "Unknown":
        if not isinstance(root, Item) and not (isinstance(root, Root) and root.kind == "stack"):
            return self
        copy = Unknown(self.reason, self.defined_at)  # the item exists, whatever its type
        copy.root = root
        return copy


class Thrown(Abstract):
    """An exception that is raised at once. Its class does nothing but keep its arguments."""

    __slots__ = ("cls",)

    def __init__(self, cls: type, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.cls = cls

    def key(self) -> Any:
        return id(self.cls)


class Raised(Thrown):
    """An exception that a handler has on the operand stack and whose object was not made.

    ``version`` is the number of the block version that raises. ``wrote`` says that an effect has followed, so bytecode
    cannot repeat the raise.
    """

    __slots__ = ("version", "wrote")

    def __init__(self, cls: type, defined_at: int, version: int, wrote: bool = False) -> None:
        super().__init__(cls, defined_at)
        self.version = version
        self.wrote = wrote

    def key(self) -> Any:
        return id(self.cls), self.defined_at, self.version, self.wrote


def joined_parts(one: Abstract, other: Abstract, join: Join) -> Tuple[Abstract, ...]:
    """The joins of the parts of two values, in order."""
    return tuple(map(join, one.parts, other.parts))


def forgotten_parts(parts: Tuple[Abstract, ...]) -> Optional[Tuple[Abstract, ...]]:
    """The parts after any list or dict may have changed; None if no part changes."""
    new = tuple(part.forgotten() for part in parts)
    return None if all(map(operator.is_, new, parts)) else new


def raised_in(values: List[Abstract]) -> Optional[Raised]:
    """The first exception in ``values`` that is being handled and whose object was not made."""
    return next((value for value in values if isinstance(value, Raised)), None)


class Composite(Abstract):
    """A composite: an immutable object whose parts are known. ``value`` carries the object where the segment makes it.

    ``NAMES`` are the attributes of the object that hold its parts.
    """

    __slots__ = ("parts", "value")
    parts: Tuple[Abstract, ...]
    has_parts = True
    NAMES: Tuple[str, ...] = ()

    def __init__(self, parts: Tuple[Abstract, ...], defined_at: int = -1, source: Any = None,
                 value: Optional[Value] = None) -> None:
        super().__init__(source, defined_at)
        self.parts = parts
        self.value = value

    def key(self) -> Any:
        return self.parts

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Composite":
        return self.like(parts, self.source, self.value)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if not isinstance(other, Composite) or type(self) is not type(other) or self.like(()) != other.like(()):
            return None
        parts = joined_parts(self, other, join)
        if self == other:
            return self.like(parts, self.source if self.source == other.source else None)
        return None if any(part.knows_nothing() for part in parts) else self.like(parts)

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> "Composite":
        parts = forgotten_parts(self.parts)
        return self.like(parts, self.source, self.value) if parts is not None else self

    def rooted(self, root: Any, keep: bool = False) -> "Composite":
        parts = self.parts if keep else tuple(part.rooted(None) for part in self.parts)
        copy = self.like(parts, self.source, self.value if keep else None)
        copy.root = root
        return copy

    def paths(self, root: Any) -> List[Any]:
        """The paths to the parts of the object at ``root``."""
        return [Inner(root, name) for name in self.NAMES]

    def dict_path(self, root: Any) -> Any:
        """The path to a mutable dict that holds some of the parts; None if there is none."""
        return None

    def like(self, parts: Tuple[Abstract, ...], source: Any = None, value: Optional[Value] = None) -> "Composite":
        """The same composite with other parts."""
        return type(self)(parts, self.defined_at, source, value)


class Slice(Composite):
    """A slice; each part is a Number or a Const."""

    __slots__ = ()
    python = slice
    NAMES = ("start", "stop", "step")

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, slice)]


class StackSlice(Slice):
    """A slice that only the operand stack holds. The object is made only where it leaves the stack."""

    __slots__ = ()


class HeldMethod(Composite):
    """A method of a list or another container as an object; its part is the container."""

    __slots__ = ("name",)
    python = types.BuiltinFunctionType
    NAMES = ("__self__",)

    def __init__(self, parts: Tuple[Abstract, ...], name: str, defined_at: int = -1, source: Any = None,
                 value: Optional[Value] = None) -> None:
        super().__init__(parts, defined_at, source, value)
        self.name = name

    def key(self) -> Any:
        return self.name, self.parts

    def like(self, parts: Tuple[Abstract, ...], source: Any = None, value: Optional[Value] = None) -> "HeldMethod":
        return HeldMethod(parts, self.name, self.defined_at, source, value)

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, self.python), kinds.Equals(Inner(source, "__name__"), self.name)]


def is_held_method(sample: Any) -> bool:
    """Whether an object is a method of a container, or of one of Python's random generators."""
    if type(sample) is not types.BuiltinFunctionType:
        return False
    return is_exactly(sample.__self__, HOLDERS) or is_pythons_generator(type(sample.__self__))
