"""Attribute access in rewritten bytecode: Python code that an access runs is called through the tape.

Such code is a property, a descriptor, `__getattribute__`, `__getattr__`, `__setattr__` or `__delattr__`. The lookup
follows the order of CPython's `object` and `type`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Iterable, Tuple

import numpy as np

from pijit.core.graph.derivatives import FUNCTIONS
from pijit.core.tape.errors import refusal
from pijit.core.tape.records import function_give, record_result
from pijit.core.tape.special_methods import PLAIN, call_recorded, in_class, python_method
from pijit.core.tape.state import STATE, watching
from pijit.core.tape.tape import NUMBERS, own_attributes

MISSING = object()


def attribute(x: Any, name: str) -> Any:
    """`x.name`."""
    if not STATE.tapes:
        return getattr(x, name)
    if issubclass(type(x), (np.ndarray, np.integer) + NUMBERS):
        return _array_attribute(x, name)
    if issubclass(type(x), PLAIN) and type(x).__module__ == "builtins":
        return getattr(x, name)
    if type(x) is super:
        return _super_attribute(x, name)
    if issubclass(type(x), type):
        return _class_attribute(x, name)
    whole = python_method(x, "__getattribute__")
    otherwise = python_method(x, "__getattr__")
    try:
        return object_attribute(x, name) if whole is None else call_recorded(whole, x, name)
    except AttributeError:
        if otherwise is None:
            raise
    return call_recorded(otherwise, x, name)


def object_attribute(x: Any, name: str) -> Any:
    """Like `object.__getattribute__`, with getters in Python recorded."""
    found = _lookup(type(x).__mro__, name)
    if found is not MISSING:
        overrides = any(in_class(type(found), special) is not None for special in ("__set__", "__delete__"))
        if overrides or name not in own_attributes(x):
            made = _got(found, x, type(x))
            if made is not MISSING:
                return made
    if python_method(x, "__getattribute__") is None and python_method(x, "__getattr__") is None:
        return getattr(x, name)
    return _default(x, "__getattribute__")(x, name)


def _class_attribute(cls: Any, name: str) -> Any:
    found = _lookup(cls.__mro__, name)
    meta = python_method(cls, "__getattr__")
    if found is not MISSING and _lookup(type(cls).__mro__, name) is MISSING:
        made = _got(found, None, cls)
        return getattr(cls, name) if made is MISSING else made
    try:
        return type.__getattribute__(cls, name) if meta is not None else getattr(cls, name)
    except AttributeError:
        if meta is None:
            raise
    return call_recorded(meta, cls, name)


def _super_attribute(x: Any, name: str) -> Any:
    """An attribute through `super()`: the search starts after the class that `super` names."""
    start, owner, kind = x.__thisclass__, x.__self__, x.__self_class__
    if kind is not None and name != "__class__":
        classes = kind.__mro__
        found = _lookup(classes[classes.index(start) + 1:], name)
        if found is not MISSING:
            made = _got(found, None if owner is kind else owner, kind)
            if made is not MISSING:
                return made
    return getattr(x, name)


def attribute_of_super(parts: Tuple[Any, Any, Any], wanted: Tuple[str, bool]) -> Any:
    """`super().name`. `parts` holds (`super`, class, object), in the order of the operand stack of CPython 3.12+."""
    function, cls, owner = parts
    name, has_arguments = wanted
    if function is super:
        return attribute(super(cls, owner), name)
    return attribute(call_recorded(function, cls, owner) if has_arguments else call_recorded(function), name)


def _lookup(classes: Iterable[type], name: str) -> Any:
    return next((cls.__dict__[name] for cls in classes if name in cls.__dict__), MISSING)


def _got(found: Any, x: Any, cls: type) -> Any:
    """The value that a descriptor in Python returns for an object, or for its class if `x` is None; else MISSING."""
    if issubclass(type(found), property):
        getter = getattr(found.fget, "py_func", found.fget)
        return call_recorded(getter, x) if x is not None and issubclass(type(getter), FunctionType) else MISSING
    method = python_method(found, "__get__")
    return MISSING if method is None else call_recorded(method, found, x, cls)


def store_attribute(slot: Tuple[Any, Any], name: str) -> None:
    """`x.name = value`. `slot` holds (value, x), in the order of the operand stack."""
    value, x = slot
    if STATE.tapes and issubclass(type(x), np.ndarray):
        if name in ("real", "imag", "flat"):
            from pijit.core.tape.operations import store  # operations needs this module

            store(value, attribute(x, name), ...)
            return
        if watching(x) and (name == "strides" or name == "dtype" and np.dtype(value) != x.dtype):
            raise refusal("PJ502", what="ndarray.{} = ...".format(name))
    setter = python_method(x, "__setattr__") if STATE.tapes else None
    if setter is not None:
        call_recorded(setter, x, name, value)
    else:
        set_object_attribute(x, name, value)


def set_object_attribute(x: Any, name: str, value: Any) -> None:
    """Like `object.__setattr__`, with setters in Python recorded."""
    if not _changed(x, name, "fset", "__set__", value):
        _default(x, "__setattr__")(x, name, value)


def delete_attribute(x: Any, name: str) -> None:
    """`del x.name`."""
    method = python_method(x, "__delattr__") if STATE.tapes else None
    if method is not None:
        call_recorded(method, x, name)
    else:
        delete_object_attribute(x, name)


def delete_object_attribute(x: Any, name: str) -> None:
    """Like `object.__delattr__`, with deleters in Python recorded."""
    if not _changed(x, name, "fdel", "__delete__"):
        _default(x, "__delattr__")(x, name)


def _default(x: Any, name: str) -> Any:
    """The C method of an object's class; that of `object` if the class defines it in Python."""
    return getattr(object, name) if python_method(x, name) is not None else getattr(type(x), name)


def _changed(x: Any, name: str, part: str, special: str, *value: Any) -> bool:
    """Store or delete through a property or descriptor in Python; True if the class has one for this attribute."""
    if not STATE.tapes or issubclass(type(x), type):
        return False
    found = _lookup(type(x).__mro__, name)
    function = getattr(found, part, None) if issubclass(type(found), property) else None
    function = getattr(function, "py_func", function)
    if issubclass(type(function), FunctionType):
        call_recorded(function, x, *value)
        return True
    method = python_method(found, special)
    if method is not None:
        call_recorded(method, found, x, *value)
    return method is not None


def _array_attribute(x: Any, name: str) -> Any:
    if type(x).__module__ not in ("numpy", "builtins"):
        found = _lookup(type(x).__mro__, name)
        made = MISSING if found is MISSING else _got(found, x, type(x))
        if made is not MISSING:
            return made
    r = getattr(x, name)
    if name in ("real", "imag") and not issubclass(type(x), np.ndarray):
        from pijit.core.tape.operations import as_refusal  # operations needs this module

        known = getattr(np, name)
        for tape in watching(x):
            record_result(tape, r, function_give(tape, FUNCTIONS[known], (x,), {}, as_refusal(known)))
    elif name == "flat" and watching(x):
        flat = x.reshape(-1)
        if not np.shares_memory(flat, x):
            raise refusal("PJ502", what="ndarray.flat of an array that is not contiguous")
        return flat
    return r
