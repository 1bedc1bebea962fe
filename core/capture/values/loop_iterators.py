"""Ranges and iterators: those that kernels step, and those over containers of known items.

`lattice` lists them with the others. They must not step an iterator of the program.
"""

from __future__ import annotations

from typing import Any, List, Optional, Tuple

import numpy as np

from pijit.core.capture.values.base import Abstract, Join, Unknown, forgotten_parts, joined_parts
from pijit.core.capture.values.typed_values import Instance, KnownContainer
from pijit.core.graph.ir import Value
from pijit.core.graph.types import Object
from pijit.guards import guard as kinds

ITERATOR_CLASSES = {"range": type(iter(range(0))), "sequence": type(iter(np.zeros(0))), "reversed": reversed,
                    "enumerate": enumerate, "zip": zip, "list": type(iter([])),
                    "dict_keys": type(iter({})), "dict_values": type(iter({}.values())),
                    "dict_items": type(iter({}.items())), "set": type(iter(set())),
                    "text": type(iter("")), "bytes": type(iter(b""))}
"""Classes of the iterators of each kind."""


class Range(Abstract):
    """A range object: start, step and length as machine words. ``parts``, if known, are the arguments of its
    construction."""

    __slots__ = ("words", "parts")
    python = range
    parts: Tuple[Abstract, ...]

    def __init__(self, words: Tuple[Value, ...], defined_at: int = -1, parts: Tuple[Abstract, ...] = ()) -> None:
        super().__init__(None, defined_at)
        self.words = words
        self.parts = parts

    def rooted(self, root: Any, keep: bool = False) -> Abstract:
        if keep:
            return self
        copy = Instance(Object(range), None, None, self.defined_at)
        copy.root = root
        return copy


class LoopIterator(Abstract):
    """An iterator that kernels step. Kind and words are those of :data:`~pijit.core.graph.types.ITERATOR_WORDS`.

    ``parts`` are its operands: an array, or iterators. ``input`` is the number of the graph input that holds the object
    if it came from outside the segment. ``count`` is the next count of "enumerate" if it is known, else None.
    """

    __slots__ = ("kind", "words", "parts", "input", "count")
    parts: Tuple[Abstract, ...]
    has_parts = True

    def __init__(self, kind: str, words: Tuple[Value, ...], parts: Tuple[Abstract, ...] = (),
                 input: Optional[int] = None, defined_at: int = -1, count: Optional[int] = None) -> None:
        super().__init__(None, defined_at)
        self.kind = kind
        self.words = words
        self.parts = parts
        self.input = input
        self.count = count

    def key(self) -> Any:
        return (self.kind, self.parts, self.count)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "LoopIterator":
        return LoopIterator(self.kind, self.words, parts, self.input, self.defined_at, self.count)

    def stepped(self, words: Tuple[Value, ...], parts: Tuple[Abstract, ...]) -> "LoopIterator":
        """The same iterator, further on."""
        count = self.count + 1 if self.count is not None else None
        return LoopIterator(self.kind, words, parts, self.input, self.defined_at, count)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, LoopIterator):
            return super().joined_with(other, join)
        if self.kind != other.kind or self.count != other.count or len(self.parts) != len(other.parts):
            return None
        joined = self.with_parts(joined_parts(self, other, join))
        return None if joined.knows_nothing() else joined

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        parts = forgotten_parts(self.parts)
        if parts is None:
            return self
        after = self.with_parts(parts)
        return Unknown("PJ209", self.defined_at) if after.knows_nothing() else after

    def rooted(self, root: Any, keep: bool = False) -> "LoopIterator":
        copy = LoopIterator(self.kind, (), tuple(part.rooted(None) for part in self.parts), None, self.defined_at)
        copy.root = root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, ITERATOR_CLASSES[self.kind])]


class Unrolled(Abstract):
    """An iterator over a container of known items. The position is part of the abstract value, which unrolls the loop.

    ``owner`` is the container, ``position`` the number of items taken. ``what`` is iterated: "forwards", "backwards",
    or "values" or "items" of a dict.
    """

    __slots__ = ("owner", "length", "position", "what")
    has_parts = True

    def __init__(self, owner: Abstract, length: int, what: str, position: int = 0, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.owner = owner
        self.length = length
        self.what = what
        self.position = position

    def key(self) -> Any:
        return (self.owner, self.length, self.what, self.position)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.owner,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Unrolled":
        return self.over(parts[0], self.position)

    def over(self, owner: Abstract, position: int) -> "Unrolled":
        """The same iterator with another owner or position."""
        return Unrolled(owner, self.length, self.what, position, self.defined_at)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, Unrolled) or self.key()[1:] != other.key()[1:]:
            return super().joined_with(other, join)
        joined = self.with_parts(joined_parts(self, other, join))
        return None if joined.knows_nothing() else joined

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        if isinstance(self.owner, KnownContainer):
            return Unknown("PJ209", self.defined_at)  # the remaining number of iterations depends on the list
        return self

    def rooted(self, root: Any, keep: bool = False) -> "Unrolled":
        if self.owner.root is not None:
            return self
        return self.over(self.owner.rooted(None), self.position)  # made before the segment, which has no path to it
