"""Special methods in Python; rewritten bytecode calls them through the tape.

C code would call the methods of an object unrecorded. Results would then be constant for gradients, and stores unknown.
So the tape calls such methods itself, or passes C code a stand-in whose methods are recorded.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Callable, Dict, Optional, Tuple
from weakref import WeakKeyDictionary

import numpy as np

from pijit.core.tape.state import STATE

DATA = (int, float, complex, str, bytes, list, tuple, dict, set, frozenset, np.generic, np.ndarray)
"""Classes whose objects C code reads directly, without special methods."""

PLAIN = DATA + (bool, type(None))

READERS = (
    "__len__", "__bool__", "__contains__", "__iter__", "__next__", "__getitem__", "__str__", "__format__", "__bytes__",
    "__int__", "__float__", "__complex__", "__index__", "__trunc__", "__floor__", "__ceil__", "__round__",
    "__length_hint__", "__reversed__", "__repr__", "__hash__", "__call__")
"""Special methods by which C code reads an object."""


def python_method(x: Any, name: str) -> Optional[FunctionType]:
    """The special method of an object's class, if it is written in Python."""
    if issubclass(type(x), PLAIN) and type(x).__module__ in ("builtins", "numpy"):
        return None
    found = in_class(type(x), name)
    found = getattr(found, "py_func", found)
    return found if issubclass(type(found), FunctionType) else None


def in_class(cls: type, name: str) -> Any:
    """CPython's lookup of a special method: in the class and its bases, never in the metaclass; None if absent."""
    for one in cls.__mro__:
        if name in one.__dict__:
            return one.__dict__[name]
    return None


def call_recorded(function: Any, *args: Any) -> Any:
    """Call a function through the tape."""
    from pijit.core.tape.calls import call  # calls needs this module

    return call(function, args)


def stand_in(x: Any) -> Any:
    """Replaces an object that C code only reads; its special methods in Python are called through the tape.

    Objects without such methods stay unchanged, as do those that C code reads as data.
    """
    if not STATE.tapes or issubclass(type(x), PLAIN + (type,)):
        return x
    names = tuple(name for name in READERS if python_method(x, name) is not None)
    return _class_of(type(x), names)(x) if names else x


def truth(x: Any) -> Any:
    """The operand of a truth test: a stand-in if `__bool__` or `__len__` is in Python."""
    if issubclass(type(x), PLAIN):
        return x
    return stand_in(x) if python_method(x, "__bool__") or python_method(x, "__len__") else x


class StandIn:
    """Proxy that reads an object through the tape. Subclasses define the special methods of the object's class."""

    __slots__ = ("_object",)

    def __init__(self, x: Any) -> None:
        self._object = x

    def __getattr__(self, name: str) -> Any:
        from pijit.core.tape.attributes import attribute  # attributes needs this module

        return attribute(self._object, name)


_classes: "WeakKeyDictionary[type, Dict[Tuple[str, ...], type]]" = WeakKeyDictionary()


def _class_of(cls: type, recorded: Tuple[str, ...]) -> type:
    """The stand-in class for objects of a class; it has the same name, because error messages show it."""
    made = _classes.setdefault(cls, {})
    if recorded not in made:
        inherited = [name for name in READERS if in_class(cls, name) is not in_class(object, name)]
        members: Dict[str, Any] = {name: _forwarding(name) for name in inherited + ["__repr__"]}
        members.update(__slots__=(), __module__=cls.__module__, __qualname__=cls.__qualname__)
        made[recorded] = type(cls.__name__, (StandIn,), members)
    return made[recorded]


def _forwarding(name: str) -> Callable[..., Any]:
    if name == "__iter__":
        return _iterated

    def forward(owner: StandIn, *args: Any) -> Any:
        x = owner._object
        method = python_method(x, name)
        if method is not None:
            return call_recorded(method, x, *args)
        return in_class(type(x), name).__get__(x, type(x))(*args)
    forward.__name__ = name
    forward.tape_aware = True  # type: ignore[attr-defined]
    return forward


StandIn.__getattr__.tape_aware = True  # type: ignore[attr-defined]


def _iterated(owner: StandIn) -> Any:
    from pijit.core.tape.iteration import iterate  # iteration needs this module

    return iterate(owner._object)


_iterated.tape_aware = True  # type: ignore[attr-defined]


def contains(item: Any, container: Any) -> bool:
    """`item in container`."""
    if not STATE.tapes:
        return item in container
    if type(container) in (list, tuple) and any(python_method(one, "__eq__") for one in (item,) + tuple(container)):
        from pijit.core.tape.operations import BINARY  # operations needs this module

        return any(one is item or bool(truth(BINARY["eq"](one, item))) for one in container)
    return item in stand_in(container)


def index_value(index: Any) -> Any:
    """An index; an object with `__index__` in Python becomes an integer."""
    if issubclass(type(index), DATA):
        return tuple(map(index_value, index)) if type(index) is tuple else index
    method = python_method(index, "__index__")
    return index if method is None else stand_in(index).__index__()


def real_number(x: Any) -> Any:
    """An operand of a function of real numbers; an object with `__float__` in Python becomes a float."""
    if issubclass(type(x), DATA):
        return x
    return x if python_method(x, "__float__") is None else call_recorded(float, x)
