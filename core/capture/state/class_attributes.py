"""Attributes of classes and modules as heap locations.

The module tells which of them captured code may store, and which classes an attribute read searches.
"""

from __future__ import annotations

import types
from typing import Any, Optional, Sequence

from pijit.core.capture.values.lattice import Abstract, Const, OpaqueObject, class_of
from pijit.guards._evaluate import UNBOUND, attribute_rule
from pijit.guards.held import is_heap_type
from pijit.guards.reading import class_value, mro_of

_DESCRIPTORS = ("__get__", "__set__", "__delete__")


def as_owner(value: Abstract) -> Abstract:
    """A class or module as the owner of a location: an object that is found at a path. Other values are returned
    unchanged."""
    if not isinstance(value, Const) or not _is_shared(value.object):
        return value
    owner = OpaqueObject(value.object, value.source, value.defined_at)
    owner.root = value.root
    return owner


def searched_for(owner: Abstract) -> Sequence[type]:
    """The classes that an attribute lookup searches besides the object itself."""
    sample = owner.object if isinstance(owner, Const) else getattr(owner, "sample", None)
    classes: Sequence[type]
    if issubclass(type(sample), type):
        classes = mro_of(sample)[1:]
    else:
        kind = class_of(owner)
        classes = mro_of(kind) if kind is not None else ()
    return classes


def why_not_shared(owner: Const, name: str, hook: str, context: Any) -> Optional[str]:
    """The reason why only bytecode can store an attribute of a class or module, or None."""
    sample = owner.object
    if not _is_shared(sample) or owner.source is None:
        return "it is an attribute of what is known by its value"
    if hook != "__setattr__":
        return "it is an attribute of a module or class"
    if name.startswith("__") and name.endswith("__"):
        return "it is a name that Python looks at"
    if type(sample) is types.ModuleType:
        own = any(sample.__dict__ is scope for scope in (context.globals, context.base.globals))
        return "it is a global of this module" if own else None
    if not issubclass(type(sample), type):
        return "it is a module of a class of its own"
    return _why_not_in_class(sample, name)


def is_plain_value(value: Abstract) -> bool:
    """Whether a value is no descriptor, so that reading it from a class gives the value itself."""
    kind = class_of(value)
    return kind is not None and all(class_value(kind, method) is UNBOUND for method in _DESCRIPTORS)


def _is_shared(sample: Any) -> bool:
    return issubclass(type(sample), (type, types.ModuleType))


def _why_not_in_class(cls: type, name: str) -> Optional[str]:
    if not is_heap_type(cls) or issubclass(cls, (type, tuple)):
        return "it is a class whose attributes mean more"
    if attribute_rule(cls) != "type" or class_value(type(cls), "__setattr__") is not type.__setattr__:
        return "its metaclass has a say in it"
    if class_value(type(cls), name) is not UNBOUND:
        return "its metaclass has such an attribute"
    found = class_value(cls, name)
    if any(class_value(type(found), method) is not UNBOUND for method in _DESCRIPTORS):
        return "it is a method, a property or another descriptor"
    return None
