"""Effects on Python objects for the Python back end: as native/effects.h, they decline where code of the user's would run.

What declines raises, and the operation's exit is taken.
"""

from __future__ import annotations

import sys
import types
import weakref
from typing import Any, Dict

import numpy as np
from pijit.guards.facts import is_exactly
from pijit.guards.held import is_heap_type
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND

_QUIET = (int, float, complex, bool, str, bytes, type(None))
_HELD_HERE = 3
"""References to an object that is looked at: the place's, the parameter's, the argument's of getrefcount."""


class Declined(Exception):
    """Only bytecode can do it."""


def _replace(old: Any, count: int = _HELD_HERE) -> None:
    """Raises if giving up the last reference to an object could run code of the user's."""
    if is_exactly(old, _QUIET) or issubclass(type(old), np.number) and not is_heap_type(type(old)):
        return
    if sys.getrefcount(old) <= count + 1 and not _is_plain_array(old):
        raise Declined


def _is_plain_array(value: Any) -> bool:
    """An array that nobody watches and that holds no objects, as the one that it looks into."""
    return value is None or (type(value) is np.ndarray and not value.dtype.hasobject
                             and weakref.getweakrefcount(value) == 0 and _is_plain_array(value.base))


def append(target: Any, value: Any) -> None:
    list.append(target, value)


def store_item(target: Any, index: int, value: Any) -> None:
    _replace(target[index])
    target[index] = value


def store_attr(owner: Any, name: str, value: Any) -> None:
    kind = type(owner)
    found = class_value(kind, name)
    if class_value(kind, "__setattr__") is not object.__setattr__:
        raise Declined
    if class_value(type(found), "__set__") is not UNBOUND:
        if type(found) is not types.MemberDescriptorType:
            raise Declined
        _replace(getattr(owner, name, None))
    elif sys.getrefcount(owner.__dict__) > 2:
        raise Declined
    else:
        _replace(owner.__dict__.get(name))
    object.__setattr__(owner, name, value)


def store_global(name: str, value: Any) -> None:
    scope = sys._getframe(2).f_globals
    _replace(scope.get(name))
    scope[name] = value


def store_cell(cell: Any, value: Any) -> None:
    try:
        _replace(cell.cell_contents)
    except ValueError:
        pass
    cell.cell_contents = value


NAMES: Dict[str, Any] = {"append": append, "collect": append, "store_item": store_item, "store_attr": store_attr,
                         "store_global": store_global, "store_cell": store_cell}
