"""Classes of objects: access paths to them, and guards on what they hold.

Models of objects call these functions.
"""

from __future__ import annotations

import weakref
from typing import Any

from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.values.lattice import Abstract, Const, ListElement, class_of
from pijit.core.capture.values.predicates import ClassHolds, ClassLacks, Holds
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.guards.source import UNBOUND, Constant, Inner, TypeOf


def class_paths(interpreter: Interpreter, value: Abstract) -> AccessPaths:
    """The access paths of the class of an object."""
    if isinstance(value, VirtualObject):
        cls = interpreter.use(value.cls)
        return AccessPaths(cls.source, cls.root)
    if isinstance(value, ListElement):
        path = Inner(Constant(weakref.ref(value.type.python)), "referent")
        return AccessPaths(path, path)
    return AccessPaths(value.source, value.root).then(TypeOf)


def rely_on_class(interpreter: Interpreter, value: Abstract, name: str, found: Any) -> None:
    """Guard that the class of an object has ``found`` under a name, or nothing if that is UNBOUND."""
    if isinstance(value, (VirtualObject, ListElement)):
        interpreter.rely(class_paths(interpreter, value), Holds(name, found))
    else:
        interpreter.rely(value, ClassLacks(name) if found is UNBOUND else ClassHolds(name, found))


def class_object(interpreter: Interpreter, owner: Abstract) -> Const:
    """``type(owner)`` of an object, with the access paths of the class."""
    if isinstance(owner, VirtualObject):
        return interpreter.use(owner.cls)
    where = class_paths(interpreter, owner)
    cls = Const(class_of(owner), where.source)
    cls.root = where.root
    return cls


def paths_of(value: Abstract) -> AccessPaths:
    """The access paths of a value: its path at function entry and its path at the start of the segment."""
    return AccessPaths(value.source, value.root)
