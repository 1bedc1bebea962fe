"""Named tuples and other tuple subclasses that captured code makes: virtual objects with fixed items.

The methods that ``collections.namedtuple`` gives its classes are known by their code. `catalogue` imports it, and other
models of tuples call it. It must not run a `__new__` of the user.
"""

from __future__ import annotations

import collections
import operator
import sys
from types import FunctionType
from typing import Any, Iterable, List, Optional, Tuple, cast

from pijit.core.capture.context import AccessPaths
from pijit.core.capture.models.containers import constructions, contents
from pijit.core.capture.models.containers.contents import virtual_tuple_items
from pijit.core.capture.models.functions.callees import Callee
from pijit.core.capture.models.objects.classes import class_object, rely_on_class
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import models, models_code
from pijit.core.capture.state.frame_state import is_confined
from pijit.core.capture.values.describe import Arguments, describe, only
from pijit.core.capture.values.generator_frame import GeneratorFrame
from pijit.core.capture.values.lattice import Abstract, Const, LoopIterator, OpaqueObject, class_of
from pijit.core.capture.values.predicates import Holds
from pijit.core.capture.values.virtual_object import FRESH, VirtualObject, has_dict, is_virtual_tuple
from pijit.core.errors import Break
from pijit.guards.facts import type_name
from pijit.guards.held import is_heap_type
from pijit.guards.reading import class_value, mro_of
from pijit.guards.source import UNBOUND, ClassAttr, is_plain_tuple


def _named_tuple() -> Any:
    return collections.namedtuple("namedtuple", "first")


_SAMPLE = _named_tuple()
TUPLE_GETTER: type = type(_SAMPLE.first)
NEVER = ("__del__", "__getattr__")
"""Names that the class of a virtual object must not define."""


def why_not_plain(kind: type, base: type) -> Optional[str]:
    """Why objects of a class, all of the builtin class ``base``, cannot be known by their contents;
    None if they can."""
    above = mro_of(base)
    if type(kind) is not type or not all(map(is_heap_type, mro_of(kind)[:-len(above)])):
        return "its class, or a base, is written in C or has a metaclass"
    if class_value(kind, "__getattribute__") is not class_value(base, "__getattribute__"):
        return "its class has __getattribute__"
    defined = [name for name in NEVER if class_value(kind, name) is not UNBOUND]
    if class_value(kind, "__class__") is not object.__dict__["__class__"]:
        defined.append("__class__")
    return "its class has %s" % defined[0] if defined else None


def new_virtual_object(interpreter: Interpreter, cls: Const, base: type = object) -> VirtualObject:
    """A new virtual object of a class whose objects are all of the builtin class ``base``."""
    why = why_not_plain(cls.object, base)
    if why is not None:
        raise Break("PJ230", callee=type_name(cls.object), because=why)
    cls = interpreter.use(interpreter.by_one_path(cls))
    for name in ("__getattribute__",) + NEVER:
        interpreter.rely(cls, Holds(name, class_value(cls.object, name)))
    virtual = VirtualObject(cls, next(FRESH))
    virtual.defined_at = interpreter.instr.index
    return virtual


def require_holdable(value: Abstract) -> None:
    """Break for a value that no virtual object can hold."""
    if isinstance(value, (LoopIterator, GeneratorFrame)) or is_confined(value) or value.knows_nothing():
        raise Break("PJ202", value=describe(value))


def new_virtual_tuple(interpreter: Interpreter, cls: Const, items: List[Abstract]) -> VirtualObject:
    """``tuple.__new__(cls, items)``."""
    for item in items:
        require_holdable(item)
    names = tuple(map(str, range(len(items))))
    made = new_virtual_object(interpreter, cls, tuple)
    held = tuple(constructions.as_object(interpreter, item) for item in items)
    return made.like(names=names, items=held, writable=False)


def _class_to_make(arguments: List[Abstract], base: type) -> Const:
    cls = arguments[0]
    if not isinstance(cls, Const) or type(cls.object) is not type or not issubclass(cls.object, base):
        raise Break("PJ203", operand=describe(cls))
    return cls


@models(tuple.__new__)
def call_tuple_new(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``tuple.__new__(cls, items)``, which makes named tuples."""
    only(arguments, keywords, "__new__", 2)
    return new_virtual_tuple(interpreter, _class_to_make(arguments, tuple), _items(interpreter, arguments[1]))


@models(object.__new__)
def call_object_new(interpreter: Interpreter, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``object.__new__(cls)``; CPython rejects classes whose objects have more than attributes."""
    only(arguments, keywords, "__new__", 1)
    return new_virtual_object(interpreter, _class_to_make(arguments, object))


def _items(interpreter: Interpreter, value: Abstract) -> List[Abstract]:
    items = contents.items_of(interpreter, value) if contents.is_short(interpreter, value) else None
    if items is None:
        raise Break("PJ203", operand=describe(value))
    return [interpreter.use(item) for item in items]


def field_of(interpreter: Interpreter, owner: VirtualObject, name: str) -> Optional[Abstract]:
    """A field of a named tuple; None if its class has something else under the name."""
    found = class_value(owner.python, name)
    position = field_position(found) if is_virtual_tuple(owner) else None
    if position is None or not 0 <= position < len(owner.items):
        return None
    interpreter.rely(interpreter.use(owner.cls), Holds(name, found))
    # a property reads self[position]
    items = virtual_tuple_items(interpreter, owner) if type(found) is property else owner.items
    return interpreter.use(items[position])


def field_position(field: Any) -> Optional[int]:
    """The position that a named tuple's class reads for a field, or None if ``field`` is something else."""
    getter = field.fget if type(field) is property else field
    if type(getter) is not operator.itemgetter and type(getter) is not TUPLE_GETTER:
        return None
    position = getter.__reduce__()[1][0]
    return position if type(position) is int else None


def tuple_class(interpreter: Interpreter, value: Abstract, methods: Iterable[str] = ("__eq__", "__ne__")) -> (
        Optional[type]):
    """The class of a value; tuple for a subclass with these methods of tuples. By default it compares as tuples do."""
    kind = class_of(value)
    plain = is_virtual_tuple(value) or isinstance(value, OpaqueObject) and is_plain_tuple(value.sample)
    if kind is None or kind is tuple or not plain:
        return kind
    for name in methods:
        own = tuple.__dict__.get(name, UNBOUND)
        if class_value(kind, name) is not own:
            return kind
        rely_on_class(interpreter, value, name, own)
    return tuple


def as_tuple(interpreter: Interpreter, value: Abstract, methods: Iterable[str]) -> Abstract:
    """A new tuple with the items of an object whose class is a subclass of tuple with these methods of tuples.

    Any other value is returned itself.
    """
    if class_of(value) is tuple or tuple_class(interpreter, value, methods) is not tuple:
        return value
    return constructions.new_tuple(interpreter, _items(interpreter, value))


# the methods of named tuples

def _closure(function: FunctionType, name: str) -> Any:
    names = function.__code__.co_freevars
    cells = function.__closure__ or ()
    return cells[names.index(name)].cell_contents if name in names else None


def _items_of_tuple(interpreter: Interpreter, value: Abstract, name: str, function: FunctionType,
                  count: int) -> List[Abstract]:
    """The items of a tuple that has ``function`` as a method and no attributes besides those of its class."""
    found = is_virtual_tuple(value) or (isinstance(value, OpaqueObject) and is_plain_tuple(value.sample)
                                        and not has_dict(type(value.sample)))
    if not found or class_value(cast(type, class_of(value)), name) is not function:
        raise Break("PJ203", operand=describe(value))
    rely_on_class(interpreter, value, name, function)
    items = _items(interpreter, value)
    if len(items) != count:
        raise Break("PJ203", operand="%d items" % len(items))
    return items


def _rely_on_maker(interpreter: Interpreter, cls: Const, function: Optional[FunctionType] = None) -> FunctionType:
    """The function by which a class makes its tuples: the ``_make`` of a named tuple. Break for any other."""
    maker = class_value(cls.object, "_make")
    inner = maker.__func__ if type(maker) is classmethod else None
    if type(inner) is not FunctionType or inner.__code__ is not _SAMPLE._make.__func__.__code__ or (
            function is not None and inner is not function):
        raise Break("PJ230", callee="_make", because="it is not that of a named tuple")
    interpreter.rely(AccessPaths(cls.source, cls.root).then(ClassAttr, "_make"), Holds("__func__", inner))
    return inner


@models_code(_SAMPLE._replace, "collections.namedtuple._replace")
def _replace(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``row._replace(name=value)``, which makes the new tuple by ``_make``."""
    function = cast(FunctionType, callee.function)
    fields: Tuple[str, ...] = _closure(function, "field_names")
    if len(arguments) != 1 or set(keywords) - set(fields):
        raise Break("PJ211", callee="_replace")
    items = _items_of_tuple(interpreter, arguments[0], "_replace", function, len(fields))
    cls = class_object(interpreter, arguments[0])
    _rely_on_maker(interpreter, cls)
    changed = [keywords.get(name, item) for name, item in zip(fields, items)]
    return new_virtual_tuple(interpreter, cls, changed)


@models_code(_SAMPLE._make.__func__, "collections.namedtuple._make")
def _make(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``Row._make(items)``."""
    only(arguments, keywords, "_make", 2)
    function = cast(FunctionType, callee.function)
    items, cls = _items(interpreter, arguments[1]), _class_to_make(arguments, tuple)
    _rely_on_maker(interpreter, cls, function)
    if len(items) != _closure(function, "num_fields"):
        raise Break("PJ203", operand="%d items" % len(items))
    return new_virtual_tuple(interpreter, cls, items)


@models_code(_SAMPLE._asdict, "collections.namedtuple._asdict")
def _asdict(interpreter: Interpreter, callee: Callee, arguments: List[Abstract], keywords: Arguments) -> Abstract:
    """``row._asdict()``."""
    only(arguments, keywords, "_asdict", 1)
    fields = class_value(cast(type, class_of(arguments[0])), "_fields")
    if sys.version_info < (3, 8) or type(fields) is not tuple:  # an OrderedDict
        raise Break("PJ216", method="_asdict")
    items = _items_of_tuple(interpreter, arguments[0], "_asdict", cast(FunctionType, callee.function), len(fields))
    rely_on_class(interpreter, arguments[0], "_fields", fields)
    return constructions.new_dict(interpreter, list(fields), items)
