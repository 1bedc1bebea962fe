"""Weak references to the objects that guards compare by identity.

The garbage collector does not see code objects, and linked code refers to its guards. A guard that owned the class of
`self` would keep the class, its methods and thereby itself alive for ever. So each object is held weakly if possible. A
guard whose object is gone never holds again, not even for a new object at the same address.

The weak references have no callback: CPython keeps at most one of these per object and shares it. A class
always has one (for `__subclasses__`), so a guard on a type does not change `weakref.getweakrefcount`. The count
of a function, module, array or instance that is guarded by identity is one higher. It is not if the program has a plain
weak reference of its own. Every way to learn of an object's death is visible in that count.
"""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["GONE", "Held", "is_heap_type"]

HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_flags_of = type.__dict__["__flags__"].__get__


def is_heap_type(cls: type) -> bool:
    """Whether a class statement made the class: its attributes may change, and it may be freed."""
    return bool(_flags_of(cls) & HEAP_TYPE)


class _Gone:
    """The type of GONE; no value of the user is of this type."""


GONE = _Gone()


class Held:
    """One object, held weakly if that is possible and useful: static classes of C code are never freed.

    Two are equal if they hold, or held, the same object.

    Attributes:
        holder: the operand for C: the weak reference, or the object itself.
        is_weak: whether it is the weak reference.
        text: a description of the object, which stays available after its death.
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
        # None is the answer of a dead reference: None itself cannot be referred to weakly.
        return GONE if value is None else value

    def __eq__(self, other: object) -> bool:
        # The reference of a dead object still identifies it: unlike the address, it is not used again.
        return type(other) is Held and self.holder is other.holder

    def __hash__(self) -> int:
        return id(self.holder)
