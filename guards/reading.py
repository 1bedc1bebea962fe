"""Reads of values without running user code: the Python twin of `native/fetch_inl.h`.

Results are UNBOUND where C has NULL. No metaclass code runs: attributes of classes are read by type's own descriptors.
"""

from __future__ import annotations

import collections
import types
from typing import Any, Dict, List, Optional, Union

from pijit.guards import _evaluate
from pijit.guards._evaluate import UNBOUND, attribute_rule, find, find_own
from pijit.guards.facts import is_exactly

__all__ = ["NoPlaceError", "SourceError", "class_value", "dict_item", "instance_dict", "is_plain_tuple", "mro_of",
           "own_attribute", "own_value", "read_attribute", "read_class_attribute", "read_item", "trust_getter"]


class SourceError(LookupError):
    """A source whose value is absent, or cannot be read without running user code; the text tells which, and why."""


class NoPlaceError(SourceError):
    """The container does not exist or cannot be searched, so it is not even known whether the value is absent."""


mro_of = type.__dict__["__mro__"].__get__
_namespace_of = type.__dict__["__dict__"].__get__
_DICT_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
_PLAIN_ON_TYPES = (types.FunctionType, staticmethod, property, types.GetSetDescriptorType,
                   types.MemberDescriptorType, type(str.join), type(object.__init__),
                   type(collections.namedtuple("_Pair", "first").first))  # type: ignore[attr-defined]


_trusted_getters: List[Any] = []
"""The `__get__` functions of descriptors that may be read from classes; see `trust_getter`."""


def trust_getter(kind: type) -> None:
    """Let reads from classes call the `__get__` of descriptors of this class, and of subclasses that inherit it.

    Args:
        kind: a class whose `__get__` is a C function. A call of it without an instance must run no user code.
    """
    _evaluate.trust_getter(kind)
    _trusted_getters[:] = [class_value(kind, "__get__")]


def _is_plain_on_types(descriptor: Any) -> bool:
    """Whether ``descriptor.__get__(None, type)`` runs no user code."""
    getter = class_value(type(descriptor), "__get__")
    return is_exactly(descriptor, _PLAIN_ON_TYPES) or any(getter is trusted for trusted in _trusted_getters)


def dict_item(container: Dict[Any, Any], key: Any) -> Any:
    """The value under a key, or UNBOUND.

    Raises:
        NoPlaceError: a key of the dict would be compared by its own code.
    """
    try:
        return find(container, key)
    except LookupError:
        text = f"a key of the dict that may be {key!r} is compared by code of its own"
        raise NoPlaceError(text) from None


def class_value(cls: type, name: str) -> Any:
    """The attribute of a class found in its MRO, or UNBOUND; no metaclass code runs."""
    for base in mro_of(cls):
        value = own_value(base, name)
        if value is not UNBOUND:
            return value
    return UNBOUND


def own_value(cls: type, name: str) -> Any:
    """The attribute in a class's own namespace, or UNBOUND."""
    return _namespace_of(cls).get(name, UNBOUND)


def _has(value: Any, *methods: str) -> bool:
    return all(class_value(type(value), method) is not UNBOUND for method in methods)


def _is_data_descriptor(value: Any) -> bool:
    return _has(value, "__get__") and (_has(value, "__set__") or _has(value, "__delete__"))


def _read_descriptor(descriptor: Any, instance: Any, cls: type) -> Any:
    try:
        return type(descriptor).__get__(descriptor, instance, cls)
    except Exception:
        return UNBOUND


def read_attribute(base: Any, name: str) -> Any:
    """The attribute as an Attr source reads it, or UNBOUND if the read is refused."""
    rule = attribute_rule(base)
    if rule == "instance":
        return _instance_attribute(base, name)
    return _type_attribute(base, name) if rule == "type" else UNBOUND


def is_plain_tuple(value: Any) -> bool:
    """Whether a value is a tuple, or of a subclass that reads items, length and iterator as tuples do."""
    kind = type(value)
    return kind is tuple or issubclass(kind, tuple) and all(class_value(kind, name) is tuple.__dict__[name]
                                                            for name in ("__getitem__", "__len__", "__iter__"))


def read_item(base: Any, key: Union[int, str]) -> Any:
    """The item as an Item source reads it, or UNBOUND if there is none.

    Raises:
        NoPlaceError: a key of the dict would be compared by its own code.
    """
    if type(base) is dict:
        return dict_item(base, key)
    if (type(base) is list or is_plain_tuple(base)) and type(key) is int and -len(base) <= key < len(base):
        return base[key]
    return UNBOUND


def instance_dict(value: Any) -> Optional[Dict[Any, Any]]:
    """The dict of an instance, even if its class defines `__dict__` otherwise."""
    for base in mro_of(type(value)):
        descriptor = _namespace_of(base).get("__dict__")
        if is_exactly(descriptor, _DICT_DESCRIPTORS):
            return descriptor.__get__(value)  # type: ignore[no-any-return]
    return None


def own_attribute(value: Any, name: str) -> Any:
    """An instance's own attribute, or UNBOUND; no dict is made for an instance that has none yet.

    Raises:
        NoPlaceError: a key of its dict would be compared by its own code.
    """
    try:
        return find_own(value, name)
    except LookupError:
        raise NoPlaceError(f"a key of the dict that may be {name!r} is compared by code of its own") from None


def _instance_attribute(value: Any, name: str) -> Any:
    found = class_value(type(value), name)
    if _is_data_descriptor(found):
        is_slot = type(found) is types.MemberDescriptorType
        return _read_descriptor(found, value, type(value)) if is_slot else UNBOUND
    own = own_attribute(value, name)
    if own is not UNBOUND:
        return own
    if type(found) is staticmethod:
        return _read_descriptor(found, value, type(value))
    return UNBOUND if _has(found, "__get__") else found


def _type_attribute(cls: type, name: str) -> Any:
    meta = class_value(type(cls), name)
    if _is_data_descriptor(meta):
        return UNBOUND
    found = class_value(cls, name)
    if found is UNBOUND:
        return UNBOUND if _has(meta, "__get__") else meta
    if _has(found, "__get__"):
        return _read_descriptor(found, None, cls) if _is_plain_on_types(found) else UNBOUND
    return found


def read_class_attribute(value: Any, name: str) -> Any:
    """The attribute in the class under `name`, neither bound nor run, if a read of `value.name` would find it."""
    rule = attribute_rule(value)
    if rule == "type":
        meta = class_value(type(value), name)
        return UNBOUND if _is_data_descriptor(meta) else class_value(value, name)
    found = class_value(type(value), name)
    if rule != "instance" or found is UNBOUND or _is_data_descriptor(found):
        return found if rule == "instance" else UNBOUND
    return found if own_attribute(value, name) is UNBOUND else UNBOUND
