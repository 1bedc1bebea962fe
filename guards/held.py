"""The one object that a guard compares with by identity, held without keeping it alive.

Code objects are invisible to the garbage collector, and linked code leads to its guards: a guard that owned the
class of `self` would keep the class, its methods and thereby itself for ever. So whatever can be referred to weakly
is; a guard whose object is gone never holds again, also not for a new object at the same address.

The weak references are plain ones, without a callback: CPython keeps at most one of those per object and hands it to
everybody. Of a class it exists anyway (for `__subclasses__`), so a guard on a type adds nothing that
`weakref.getweakrefcount` counts. Of a function, module, array or instance that is guarded by identity the count is
one higher, unless the program has a plain reference of its own; no place that is told of an object's death is
invisible to that count.
"""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["GONE", "Held", "is_heap_type"]

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_flags_of = type.__dict__["__flags__"].__get__


def is_heap_type(cls: type) -> bool:
    """Whether a class statement made the class: its attributes may change, and it may die."""
    return bool(_flags_of(cls) & HEAP_TYPE)


class _Gone:
    """The type of GONE, which no user's value is."""


GONE = _Gone()


class Held:
    """One object, held weakly where that is possible and means anything: classes of C code never die.

    Two are equal if they hold, or held, the same object.

    Attributes:
        holder: what C gets: the weak reference, or the object itself.
        is_weak: which of the two.
        text: the object in words, which outlive it.
    """

    __slots__ = ("holder", "is_weak", "text")

    def __init__(self, value: Any, text: str) -> None:
        self.text = text
        self.holder = value
        self.is_weak = False
        if not issubclass(type(value), type) or is_heap_type(value):
            try:
                self.holder = weakref.ref(value)
                self.is_weak = True
            except TypeError:
                pass

    def get(self) -> Any:
        """The object, or GONE."""
        if not self.is_weak:
            return self.holder
        value = self.holder()
        # A referent of None means a dead one: None itself cannot be referred to weakly.
        return GONE if value is None else value

    def __eq__(self, other: object) -> bool:
        # The reference of a dead object is still its own: unlike the address, it is not used again.
        return type(other) is Held and self.holder is other.holder

    def __hash__(self) -> int:
        return id(self.holder)
