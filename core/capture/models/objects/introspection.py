"""Builtins that inspect objects, and methods of dicts, lists and strings: answered under guards.

`catalogue` imports it. It must run no code of the object's class.
"""

from __future__ import annotations

import abc
import builtins
import sys
import types
from typing import List, Optional, cast

import numpy as np

from pijit.core.capture.models.containers import (
    characters,
    comparisons,
    contents,
    expectations,
    item_reads,
    reads,
    sequences,
)
from pijit.core.capture.models.containers.characters import TEXT
from pijit.core.capture.models.containers.counter_class import rely_if_counter
from pijit.core.capture.models.containers.expectations import ITEM_KEYS, KEYED
from pijit.core.capture.models.containers.sequences import copied_dict, joined_dicts
from pijit.core.capture.models.containers.updates import found_position
from pijit.core.capture.models.iteration.iterators import EACH_ITEM, dict_iterator, unrolled
from pijit.core.capture.models.numpy import mapped_arrays
from pijit.core.capture.models.numpy.random import draw_method
from pijit.core.capture.models.objects import locations, stored_values
from pijit.core.capture.models.objects.classes import class_object
from pijit.core.capture.models.objects.special_methods import is_object
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import Model, class_method_model, method_model, model_factory, models
from pijit.core.capture.values.describe import Arguments, Handler, describe, only
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    KnownContainer,
    Lazy,
    Number,
    OpaqueObject,
    Tensor,
    UnescapedFunction,
    class_of,
    number_type,
)
from pijit.core.capture.values.predicates import ClassHolds, LacksAttribute
from pijit.core.errors import Break
from pijit.core.graph.library import STRING_METHODS
from pijit.core.graph.types import BOOL, INT
from pijit.guards.facts import is_among, is_exactly, type_module
from pijit.guards.held import is_heap_type
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, Attr, SourceError, is_absent


def _known_class(value: Abstract) -> type:
    kind = class_of(value)
    if kind is None:
        raise Break("PJ203", operand=describe(value))
    return kind


@models(builtins.type)
def call_type(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``type(x)``."""
    only(arguments, keywords, "type", 1)
    kind = _known_class(arguments[0])
    return class_object(interpreter, arguments[0]) if is_object(arguments[0]) else Const(kind)


ABSTRACT = ("numbers", "collections.abc")
PLAIN_READS = tuple(vars(cls)["__getattribute__"] for cls in (object, type, types.ModuleType, tuple))


@models(builtins.isinstance)
def call_isinstance(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``isinstance(x, classes)`` where neither the classes nor x's class decide it by code of their own."""
    only(arguments, keywords, "isinstance", 2)
    kind = _known_class(arguments[0])
    classes = _classes(interpreter, arguments[1])
    if any(issubclass(kind, cls) for cls in classes if type(cls) is type):
        return Const(True)
    if any(type(cls) is abc.ABCMeta for cls in classes):
        return _isinstance_abstract(interpreter, arguments, kind, classes)
    if _is_builtin(kind) and all(type(cls) is type for cls in classes):
        return Const(False)
    asked = [class_value(kind, name) for name in ("__class__", "__getattribute__")]
    if not (asked[0] is object.__dict__["__class__"] and any(asked[1] is one for one in PLAIN_READS)
            and all(type(cls) is type for cls in classes)):
        raise Break("PJ201", callee="isinstance")
    return Const(False)


def _is_builtin(kind: type) -> bool:
    """Whether a class is a C class of Python or NumPy, whose attributes never change."""
    return not is_heap_type(kind) and type_module(kind) in ("builtins", "numpy")


def _isinstance_abstract(interpreter: Interpreter, arguments: List[Abstract], kind: type,
                         classes: List[type]) -> Abstract:
    """``isinstance`` with Python's own abstract classes.
    A registered class stays registered; for others the kernel asks."""
    plain = all(type(cls) is type or type(cls) is abc.ABCMeta and type_module(cls) in ABSTRACT for cls in classes)
    if not plain or not _is_builtin(kind):
        raise Break("PJ201", callee="isinstance")
    if issubclass(kind, tuple(classes)):
        return Const(True)
    operands = [stored_values.stored_value(interpreter, value) for value in arguments]
    attrs = {"function": "builtins.isinstance", "keywords": ()}
    return Number(BOOL, interpreter.emit("invoke", operands, BOOL, attrs, exits=True))


@models(builtins.issubclass)
def call_issubclass(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``issubclass(cls, classes)`` of classes without a metaclass."""
    only(arguments, keywords, "issubclass", 2)
    kind, classes = arguments[0], _classes(interpreter, arguments[1])
    if not isinstance(kind, Const) or any(type(cls) is not type for cls in [kind.object] + classes):
        raise Break("PJ201", callee="issubclass")
    return Const(issubclass(kind.object, tuple(classes)))


def _classes(interpreter: Interpreter, value: Abstract) -> List[type]:
    """The classes of a class or of a tuple of classes, however deeply nested."""
    if isinstance(value, Const) and issubclass(type(value.object), type):
        return [value.object]
    items = contents.items_of(interpreter, value) if class_of(value) is tuple else None
    if items is None:
        raise Break("PJ203", operand=describe(value))
    return [cls for item in items for cls in _classes(interpreter, interpreter.use(item))]


@models(builtins.callable)
def call_callable(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``callable(x)``."""
    only(arguments, keywords, "callable", 1)
    kind = _known_class(arguments[0])
    found = class_value(kind, "__call__")
    if isinstance(arguments[0], OpaqueObject) and is_heap_type(kind):
        if type(found) is not types.FunctionType:
            raise Break("PJ201", callee="callable")
        interpreter.rely(arguments[0], ClassHolds("__call__", found))
    return Const(found is not UNBOUND)


@models(np.isscalar)
def call_isscalar(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``np.isscalar(x)`` of numbers, strings, arrays, containers and None."""
    only(arguments, keywords, "isscalar", 1)
    kind = _known_class(arguments[0])
    if number_type(arguments[0]) is not None or is_among(kind, (str, bytes)):
        return Const(True)
    if isinstance(arguments[0], Tensor) or is_among(kind, (list, tuple, dict, set, type(None))):
        return Const(False)
    raise Break("PJ203", operand=describe(arguments[0]))


@models(builtins.hasattr)
def call_hasattr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``hasattr(x, name)``; a lookup that runs code stays bytecode."""
    only(arguments, keywords, "hasattr", 2)
    owner, name = arguments[0], _name(interpreter, arguments[1])
    if _lacks(interpreter, owner, name):
        return Const(False)
    interpreter.use(interpreter.attribute(owner, name))
    return Const(True)


@models(builtins.getattr)
def call_getattr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``getattr(x, name)`` and ``getattr(x, name, default)``."""
    only(arguments, keywords, "getattr", 2, 3)
    owner, name = arguments[0], _name(interpreter, arguments[1])
    if len(arguments) == 3 and _lacks(interpreter, owner, name):
        return arguments[2]
    return interpreter.attribute(owner, name)


@models(builtins.setattr)
def call_setattr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``setattr(x, name, value)``."""
    only(arguments, keywords, "setattr", 3)
    interpreter.store_attribute(arguments[0], sys.intern(_name(interpreter, arguments[1])), arguments[2])
    return Const(None)


def _name(interpreter: Interpreter, value: Abstract) -> str:
    name = interpreter.constant(value)
    if type(name) is not str:
        raise Break("PJ204", attribute=describe(value), object="any")
    return name


def _lacks(interpreter: Interpreter, owner: Abstract, name: str) -> bool:
    """Whether an attribute is certainly absent; a guard holds that where the attribute could be added."""
    if isinstance(owner, OpaqueObject):
        try:
            absent = is_absent(owner.sample, Attr(owner.source, name))
        except SourceError:
            return False
        if absent:
            locations.reading(interpreter, name, owner)
            interpreter.rely(owner, LacksAttribute(name))
        return absent
    kind = class_of(owner)
    known = isinstance(owner, Const) and not is_exactly(owner.object, (bool, int, float, complex, str))
    plain = kind is not None and type_module(kind) in ("builtins", "numpy") and not known
    return plain and not hasattr(kind, name)


@models(KEYED, "get")
def call_dict_get(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``d.get(key)`` and ``d.get(key, default)``."""
    only(arguments, keywords, "get", 2, 3)
    owner, key = arguments[0], interpreter.constant(arguments[1])
    if expectations.is_changing(interpreter, owner) or class_of(owner) is not dict or not is_exactly(key, ITEM_KEYS):
        return reads.get_now(interpreter, *(arguments + [Const(None)])[:3])
    if contents.holds_item(interpreter, owner, key):
        return item_reads.container_item(interpreter, owner, arguments[1])
    return arguments[2] if len(arguments) == 3 else Const(None)


@model_factory
def _dict_view(what: str) -> Handler:
    """``d.keys()``, ``d.values()`` and ``d.items()``, to be iterated at once. They are represented by their
    iterator, so they cannot leave a segment."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        only(arguments, keywords, what, 1)
        found = dict_iterator(interpreter, arguments[0], what)
        return (Lazy(UnescapedFunction(EACH_ITEM, (), interpreter.context), found) if found
                else unrolled(interpreter, arguments[0], what))
    return call


@models(list, "copy")
def _list_copy(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.copy()``."""
    only(arguments, keywords, "copy", 1)
    return sequences.copied(interpreter, arguments[0])


@models(KEYED, "copy")
def _dict_copy(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``d.copy()``."""
    only(arguments, keywords, "copy", 1)
    owner = arguments[0]
    if isinstance(owner, KnownContainer):
        return joined_dicts(interpreter, [owner])
    rely_if_counter(interpreter, owner, "__init__", "update", "__new__", "__class__")
    return copied_dict(interpreter, owner, cast(type, class_of(owner)))


@models((list, tuple), "index")
def _list_index(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.index(value)`` of a number or a string."""
    only(arguments, keywords, "index", 2)
    return Number(INT, interpreter.emit("same", [found_position(interpreter, *arguments)], INT))


@models((list, tuple), "count")
def _list_count(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``xs.count(value)`` of a number or a string."""
    only(arguments, keywords, "count", 2)
    owner, value = arguments
    return Number(INT, interpreter.emit("same", [comparisons.position_of(interpreter, owner, value, "count_items")],
                                        INT))


def method_of(owner: Abstract, name: str) -> Optional[Model]:
    """The model of a method of a builtin class, an array or a random generator; None for other methods."""
    kind = class_of(owner)
    if isinstance(owner, Const) and kind is type:
        return class_method_model(owner.object, name)
    if mapped_arrays.involves(owner):
        return mapped_arrays.method_of_memory(name)
    if kind is np.ndarray and not isinstance(owner, Tensor):
        return None  # its dtype is not captured
    model = method_model(kind, name)
    drawn = draw_method(kind, name) if model is None and kind is not None else None
    return Model(drawn) if drawn is not None else model


@model_factory
def _string_method(name: str) -> Handler:
    """Methods of strings whose arguments are strings and integers; kernels call them unchanged."""
    def call(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
        if keywords or not all(is_among(class_of(argument), (str, int)) for argument in arguments):
            raise Break("PJ216", method=name)
        return characters.made_text(interpreter, "builtins.str." + name, arguments, result)
    result = BOOL if name.startswith("is") or name.endswith("with") else INT if name in ANSWER_NUMBERS else TEXT
    return call


ANSWER_NUMBERS = frozenset(["count", "find", "rfind"])


@models(object.__setattr__)
def call_plain_setattr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``object.__setattr__(x, name, value)``, with which frozen dataclasses and methods ``__setattr__`` store."""
    only(arguments, keywords, "__setattr__", 3)
    if not is_object(arguments[0]):
        raise Break("PJ220", object=describe(arguments[0]), because="object.__setattr__ is called")
    interpreter.store_attribute(arguments[0], sys.intern(_name(interpreter, arguments[1])), arguments[2], True)
    return Const(None)


@models(builtins.delattr)
def call_delattr(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``delattr(x, name)``."""
    only(arguments, keywords, "delattr", 2)
    interpreter.delete_attribute(arguments[0], _name(interpreter, arguments[1]))
    return Const(None)


for _method in STRING_METHODS:
    models(str, _method)(_string_method(_method))
for _method, _what in (("keys", "forwards"), ("values", "values"), ("items", "items")):
    models(KEYED, _method)(_dict_view(_what))
