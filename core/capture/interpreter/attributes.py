"""Attribute reads: LOAD_ATTR and LOAD_METHOD on arrays, modules, classes and guarded objects.

The dispatch table of `interpreter` has its functions. They must run no code of the user.
"""

from __future__ import annotations

import enum
import types
from collections import Counter
from typing import Any, Callable, Dict, FrozenSet, Union, cast

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers import contents
from pijit.core.capture.models.containers.contents import named_items
from pijit.core.capture.models.containers.counter_class import rely_on_method
from pijit.core.capture.models.numpy import mapped_arrays
from pijit.core.capture.models.objects import locations
from pijit.core.capture.models.objects.classes import class_object, paths_of
from pijit.core.capture.models.objects.instances import virtual_attribute
from pijit.core.capture.models.objects.introspection import method_of
from pijit.core.capture.models.objects.list_elements import as_list_element, list_element_attribute
from pijit.core.capture.models.objects.method_binding import bound_attribute, loaded_super, super_attribute
from pijit.core.capture.models.objects.named_tuples import as_tuple, field_position
from pijit.core.capture.models.objects.special_methods import PLAIN
from pijit.core.capture.models.protocol import Interpreter
from pijit.core.capture.models.registry import ATTRIBUTE, entry_of
from pijit.core.capture.models.scalars.complex import is_complex, part_of
from pijit.core.capture.values.class_table import ClassTable
from pijit.core.capture.values.describe import describe
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    Instance,
    ListElement,
    MappedArray,
    Method,
    Null,
    Number,
    OpaqueObject,
    Slice,
    Super,
    Tensor,
    UnmadeArray,
    class_of,
)
from pijit.core.capture.values.predicates import ClassHolds, IsObject
from pijit.core.capture.values.virtual_object import VirtualObject, is_virtual_list
from pijit.core.errors import Break
from pijit.guards.facts import is_among, is_heap_type, type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, Attr, ClassAttr, Inner, is_plain_tuple, read_attribute, read_class_attribute

CONSTANT_ATTRIBUTES: Dict[type, FrozenSet[str]] = {
    enum.Enum: frozenset(["name", "value"]),
    np.dtype: frozenset(["kind", "char", "itemsize", "num", "name", "str", "type", "byteorder", "alignment",
                         "isnative", "ndim", "shape", "hasobject"]),
    np.finfo: frozenset(["eps", "max", "min", "tiny", "resolution", "precision", "bits", "dtype"]),
    np.iinfo: frozenset(["max", "min", "bits", "dtype"]),
}
"""Attributes of immutable objects; they are known when the object is."""


CLASS = object.__dict__["__class__"]
TUPLE_METHODS = frozenset(["count", "index"])


def op_LOAD_ATTR(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(interpreter.attribute(interpreter.pop(), instr.value))


def op_LOAD_METHOD(interpreter: Interpreter, instr: Instr) -> None:
    owner, name = interpreter.pop(), instr.value
    if name in TUPLE_METHODS:  # it is called at once, so that the object of the method is never seen
        owner = as_tuple(interpreter, owner, (name,))
    _push_method(interpreter, interpreter.attribute(owner, name))


def _push_method(interpreter: Interpreter, value: Abstract) -> None:
    interpreter.push(Null())
    interpreter.push(value)


def op_LOAD_SUPER_ATTR(interpreter: Interpreter, instr: Instr) -> None:
    interpreter.push(loaded_super(interpreter, instr))


def op_LOAD_SUPER_METHOD(interpreter: Interpreter, instr: Instr) -> None:
    _push_method(interpreter, loaded_super(interpreter, instr))


def attribute(interpreter: Interpreter, owner: Abstract, name: str) -> Abstract:
    """``owner.name``."""
    if method_of(owner, name) is not None:
        if class_of(owner) is Counter:
            rely_on_method(interpreter, owner, name)
        return Method(owner, name)
    if name == "__class__" and is_among(class_of(owner), PLAIN):
        return Const(class_of(owner))
    return ATTRIBUTES[type(owner)](interpreter, owner, name)


def _no_attribute(interpreter: Interpreter, owner: Abstract, name: str) -> Abstract:
    raise Break("PJ204", attribute=name, object=describe(owner))


def _virtual_attribute(interpreter: Interpreter, owner: VirtualObject, name: str) -> Abstract:
    return (_no_attribute if is_virtual_list(owner) else virtual_attribute)(interpreter, owner, name)


def _field(interpreter: Interpreter, owner: Instance, name: str) -> Abstract:
    """An attribute of a named tuple."""
    fields = named_items(interpreter, owner)
    if fields is None:
        return _no_attribute(interpreter, owner, name)
    return fields[_position_of(cast(type, class_of(owner)), name)]


def _slice_attribute(interpreter: Interpreter, owner: Slice, name: str) -> Abstract:
    if name not in owner.NAMES:
        return _no_attribute(interpreter, owner, name)
    return interpreter.use(owner).parts[owner.NAMES.index(name)]


def _constant_attribute(interpreter: Interpreter, owner: Const, name: str) -> Abstract:
    return (_scalar_attribute if is_complex(owner) else _object_attribute)(interpreter, owner, name)


def _scalar_attribute(interpreter: Interpreter, owner: Abstract, name: str) -> Abstract:
    """The parts of a number, or an attribute of a NumPy scalar that does not depend on its value."""
    part = part_of(interpreter, owner, name)
    if part is not None:
        return part
    of_numpy = isinstance(owner, Number) and owner.type.family == "np"
    model = entry_of(ATTRIBUTE, np.generic, name) if of_numpy else None
    if model is not None:
        return cast(Abstract, model(interpreter, owner, name))
    raise Break("PJ204", attribute=name, object=describe(owner))


def _array_attribute(interpreter: Interpreter, owner: Tensor, name: str) -> Abstract:
    model = entry_of(ATTRIBUTE, np.ndarray, name)
    if model is not None:
        return cast(Abstract, model(interpreter, owner, name))
    raise Break("PJ204", attribute=name, object="array")


def _mapped_attribute(interpreter: Interpreter, owner: Union[MappedArray, UnmadeArray], name: str) -> Abstract:
    found = mapped_arrays.attribute(interpreter, owner, name)
    if found is not None:
        return found
    if isinstance(owner, MappedArray):
        return _object_attribute(interpreter, owner, name)
    return _no_attribute(interpreter, owner, name)


def _object_attribute(interpreter: Interpreter, owner: Union[Const, OpaqueObject], name: str) -> Abstract:
    """An attribute of an object: the stored value, or what its class binds or computes."""
    sample = owner.object if isinstance(owner, Const) else owner.sample
    constant = constant_attribute(sample, name) if isinstance(owner, Const) else UNBOUND
    if constant is not UNBOUND:
        return Const(constant)
    if name == "__name__" and has_plain_name(sample):
        return locations.known_object(interpreter, sample.__name__, *paths_of(owner).then(Inner, name))
    if name == "__class__" and isinstance(owner, OpaqueObject) and read_class_attribute(sample, name) is CLASS:
        interpreter.rely(paths_of(owner).then(ClassAttr, name), IsObject(CLASS))
        return class_object(interpreter, owner)
    if isinstance(owner, OpaqueObject) and is_plain_tuple(sample):
        position = field_position(read_attribute(type(sample), name))
        if position is not None:
            interpreter.rely(owner, ClassHolds(name, read_attribute(type(sample), name)))
            return contents.item(interpreter, owner, position)
    element = as_list_element(interpreter, owner, name)
    if element is not None:
        return list_element_attribute(interpreter, element, name)
    location = locations.attribute_location(interpreter, owner, name)
    if location is not None:
        return locations.read_location(interpreter, location)
    found = UNBOUND if issubclass(type(sample), np.ndarray) else read_attribute(sample, name)
    if found is UNBOUND:
        bound = bound_attribute(interpreter, owner, sample, name)
        if bound is None:
            raise Break("PJ204", attribute=name, object=type_name(type(sample)))
        return bound
    if owner.root is None and owner.source is None and not issubclass(type(sample), (types.ModuleType, type)):
        raise Break("PJ204", attribute=name, object=type_name(type(sample)))
    locations.reading(interpreter, name, owner)
    source = Attr(owner.source, name) if owner.source is not None else None
    root = Attr(owner.root, name) if owner.root is not None else None
    return locations.known_object(interpreter, found, source, root)


ATTRIBUTES: ClassTable[Callable[..., Abstract]] = ClassTable({
    Abstract: _no_attribute,
    Const: _constant_attribute,
    Instance: _field,
    ListElement: list_element_attribute,
    MappedArray: _mapped_attribute,
    Number: _scalar_attribute,
    OpaqueObject: _object_attribute,
    Slice: _slice_attribute,
    Super: super_attribute,
    Tensor: _array_attribute,
    UnmadeArray: _mapped_attribute,
    VirtualObject: _virtual_attribute,
})
"""The value of an attribute, by the class of the value that has it."""


def has_plain_name(sample: Any) -> bool:
    """Whether an object is a function, or a class whose metaclass reads ``__name__`` as ``type`` does."""
    return type(sample) is types.FunctionType or (
        is_heap_type(sample) and class_value(type(sample), "__name__") is type.__dict__["__name__"])


def _position_of(kind: type, name: str) -> int:
    position = field_position(read_attribute(kind, name))
    if position is None:
        raise Break("PJ204", attribute=name, object=type_name(kind))
    return position


def constant_attribute(sample: Any, name: str) -> Any:
    """An attribute that never changes during the life of ``sample``, or UNBOUND."""
    if type(sample) is enum.EnumMeta:
        return sample.__dict__["_member_map_"].get(name, UNBOUND)
    if name == "__name__" and type(sample) is type and not is_heap_type(sample):
        return type_name(sample)
    for kind, names in CONSTANT_ATTRIBUTES.items():
        if name in names and issubclass(type(sample), kind):
            return getattr(sample, name)
    return UNBOUND
