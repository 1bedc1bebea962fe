"""Attribute reads: LOAD_ATTR and LOAD_METHOD on arrays, modules, classes and guarded objects."""

from __future__ import annotations

import enum
import types
from collections import Counter
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence

import numpy as np

from pijit.core.bytecode.codec.decode import Instr
from pijit.core.capture.models.containers.counters import rely_on_method
from pijit.core.capture.models.functions.callees import place_of
from pijit.core.capture.models.numpy.arrays import METHODS
from pijit.core.capture.models.numpy.library import named_items
from pijit.core.capture.models.objects.instances import record_attribute
from pijit.core.capture.models.objects.introspection import method_of
from pijit.core.capture.models.objects.list_elements import as_thing, thing_attribute
from pijit.core.capture.models.objects.method_binding import (
    bound_attribute,
    class_object,
    loaded_super,
    super_attribute,
)
from pijit.core.capture.models.objects.named_tuples import field_position
from pijit.core.capture.models.objects.special_methods import PLAIN
from pijit.core.capture.models.operators import describe
from pijit.core.capture.models.scalars.complex import is_complex, part_of
from pijit.core.capture.values.lattice import (
    Abstract,
    Const,
    ListElement,
    Method,
    Null,
    Number,
    OpaqueObject,
    Slice,
    Super,
    Tensor,
    class_of,
)
from pijit.core.capture.values.predicates import ClassHolds, IsObject
from pijit.core.capture.values.virtual_object import VirtualObject
from pijit.core.errors import Break
from pijit.core.graph.ir import Value
from pijit.core.graph.library import FUNCTIONS
from pijit.core.graph.library import METHODS as LIBRARY_METHODS
from pijit.core.graph.types import FLAG, INT, WORD, Array
from pijit.guards.facts import is_among, is_heap_type, type_name
from pijit.guards.reading import class_value
from pijit.guards.source import UNBOUND, Attr, ClassAttr, Inner, is_plain_tuple, read_attribute, read_class_attribute

ARRAY_METHODS = frozenset(name for name in frozenset(METHODS) | frozenset(LIBRARY_METHODS)
                          if callable(getattr(np.ndarray, name, None)))
"""Callable attributes alone: NumPy 2 keeps names such as ``ptp`` that only raise AttributeError."""

CONSTANT_ATTRIBUTES: Dict[type, FrozenSet[str]] = {
    enum.Enum: frozenset(["name", "value"]),
    np.dtype: frozenset(["kind", "char", "itemsize", "num", "name", "str", "type", "byteorder", "alignment",
                         "isnative", "ndim", "shape", "hasobject"]),
    np.finfo: frozenset(["eps", "max", "min", "tiny", "resolution", "precision", "bits", "dtype"]),
    np.iinfo: frozenset(["max", "min", "bits", "dtype"]),
}
"""Attributes of immutable objects; they are known when the object is."""


CLASS = object.__dict__["__class__"]
SCALAR_ATTRIBUTES = frozenset(["dtype", "ndim", "shape", "size", "itemsize", "nbytes", "strides"])


class Attributes:
    """Mixin of the interpreter: LOAD_ATTR and LOAD_METHOD."""

    emit: Callable[..., Optional[Value]]
    pop: Callable[[], Abstract]
    push: Callable[[Abstract], None]
    use: Callable[[Abstract], Abstract]
    known_object: Callable[..., Abstract]
    binary: Callable[..., Abstract]
    new_tuple: Callable[..., Abstract]
    rely: Callable[[Abstract, Any], None]
    item: Callable[..., Abstract]
    pop_many: Callable[[int], List[Abstract]]
    call: Callable[..., Abstract]
    attribute_place: Callable[[Abstract, str], Any]
    read_place: Callable[[Any], Abstract]
    invoke: Callable[..., Abstract]
    reading: Callable[[Any, Abstract], None]

    def op_LOAD_ATTR(self, instr: Instr) -> None:
        self.push(self.attribute(self.pop(), instr.value))

    def op_LOAD_METHOD(self, instr: Instr) -> None:
        self._push_method(self.attribute(self.pop(), instr.value))

    def _push_method(self, value: Abstract) -> None:
        self.push(Null())
        self.push(value)

    def op_LOAD_SUPER_ATTR(self, instr: Instr) -> None:
        self.push(loaded_super(self, instr))

    def op_LOAD_SUPER_METHOD(self, instr: Instr) -> None:
        self._push_method(loaded_super(self, instr))

    def attribute(self, owner: Abstract, name: str) -> Abstract:
        """``owner.name``."""
        if isinstance(owner, Tensor):
            return self._array_attribute(owner, name)
        if method_of(owner, name) is not None:
            if class_of(owner) is Counter:
                rely_on_method(self, owner, name)
            return Method(owner, name)
        if isinstance(owner, ListElement):
            return thing_attribute(self, owner, name)
        if isinstance(owner, VirtualObject):
            return record_attribute(self, owner, name)
        fields = named_items(self, owner)
        if fields is not None:
            return fields[_position_of(owner.type.python, name)]  # type: ignore[attr-defined]
        if name == "__class__" and is_among(class_of(owner), PLAIN):
            return Const(class_of(owner))
        if isinstance(owner, Super):
            return super_attribute(self, owner, name)
        if isinstance(owner, Slice) and name in owner.NAMES:
            return self.use(owner).parts[owner.NAMES.index(name)]  # type: ignore[attr-defined,no-any-return]
        if isinstance(owner, (Const, OpaqueObject)) and not is_complex(owner):
            return self._object_attribute(owner, name)
        if isinstance(owner, (Number, Const)):
            return self._scalar_attribute(owner, name)
        raise Break("PJ204", attribute=name, object=describe(owner))

    def _scalar_attribute(self, owner: Abstract, name: str) -> Abstract:
        """The parts of a number, or an attribute of a NumPy scalar that does not depend on its value."""
        part = part_of(self, owner, name)
        if part is not None:
            return part
        if isinstance(owner, Number) and owner.type.family == "np" and name in SCALAR_ATTRIBUTES:
            return Const(getattr(owner.type.dtype.type(0), name))
        raise Break("PJ204", attribute=name, object=describe(owner))

    def _array_attribute(self, owner: Tensor, name: str) -> Abstract:
        kind = owner.type
        if name in ARRAY_METHODS:
            return Method(owner, name)
        if name == "ndim":
            return Const(kind.ndim)
        if name == "dtype":
            return Const(kind.dtype)
        if name == "itemsize":
            return Const(kind.dtype.itemsize)
        if name == "shape":
            return self.new_tuple([Number(INT, self.dimension(owner, axis)) for axis in range(kind.ndim)])
        if name == "size":
            return Number(INT, self.size(owner))
        if name == "T":
            return self.transposed(owner)
        if name == "nbytes":
            return self.binary("*", Number(INT, self.size(owner)), Const(kind.dtype.itemsize))
        if name == "real" and kind.dtype.kind != "c":
            return owner
        if name in ("real", "imag") and kind.dtype.kind == "c" and kind.ndim:
            half = np.dtype("f%d" % (kind.dtype.itemsize // 2))
            result = Array(half, kind.ndim, "A", kind.writeable)
            part = Tensor(result, self.emit("part", [owner.value], result, {"which": name}))
            part.part = (owner.value, name)
            return part
        if name == "imag":
            return self.invoke(FUNCTIONS["imag"], [owner], {})
        raise Break("PJ204", attribute=name, object="array")

    def dimension(self, owner: Tensor, axis: int) -> Value:
        """``shape[axis]`` as a Python int."""
        raw = self.emit("dim", [owner.value], WORD, {"axis": axis})
        return self.emit("same", [raw], INT)  # type: ignore[return-value]

    def size(self, owner: Tensor, axes: Optional[Sequence[int]] = None) -> Value:
        """The number of elements, in total or along some axes, as a Python int. It always fits into 64 bits."""
        total = self.emit("const", [], WORD, {"value": 1})
        for axis in range(owner.type.ndim) if axes is None else axes:
            total = self.emit("mul", [total, self.emit("dim", [owner.value], WORD, {"axis": axis})], WORD)
        return self.emit("same", [total], INT)  # type: ignore[return-value]

    def require_shape(self, one: Tensor, other: Tensor) -> None:
        """Side exit unless two arrays have the same shape."""
        for axis in range(one.type.ndim):
            lengths = [self.emit("dim", [array.value], WORD, {"axis": axis}) for array in (one, other)]
            flag = self.emit("compare", lengths, FLAG, {"operator": "=="})
            self.emit("require", [flag], None, exits=True)

    def dim(self, owner: Tensor, axis: int) -> Value:
        """The length of an axis as a Python int."""
        return self.emit("same", [self.emit("dim", [owner.value], WORD, {"axis": axis})],
                         INT)  # type: ignore[return-value]

    def transposed(self, owner: Tensor) -> Abstract:
        """``x.T``: always a new view object."""
        kind = owner.type
        layout = kind.layout if kind.ndim < 2 else {"C": "A", "F": "C"}.get(kind.layout, "A")
        result = Array(kind.dtype, kind.ndim, layout, kind.writeable)
        axes = tuple(reversed(range(kind.ndim)))
        return Tensor(result, self.emit("transpose", [owner.value], result, {"axes": axes}))

    def _object_attribute(self, owner: Abstract, name: str) -> Abstract:
        """An attribute of an object: the stored value, or what its class binds or computes."""
        sample = owner.object if isinstance(owner, Const) else owner.sample  # type: ignore[attr-defined]
        constant = constant_attribute(sample, name) if isinstance(owner, Const) else UNBOUND
        if constant is not UNBOUND:
            return Const(constant)
        if name == "__name__" and has_plain_name(sample):
            return self.known_object(sample.__name__, *place_of(owner).then(Inner, name))
        if name == "__class__" and isinstance(owner, OpaqueObject) and read_class_attribute(sample, name) is CLASS:
            self.rely(place_of(owner).then(ClassAttr, name), IsObject(CLASS))
            return class_object(self, owner)
        if isinstance(owner, OpaqueObject) and is_plain_tuple(sample):
            position = field_position(read_attribute(type(sample), name))
            if position is not None:
                self.rely(owner, ClassHolds(name, read_attribute(type(sample), name)))
                return self.item(owner, position)
        thing = as_thing(self, owner, name)
        if thing is not None:
            return thing_attribute(self, thing, name)
        place = self.attribute_place(owner, name)
        if place is not None:
            return self.read_place(place)
        found = UNBOUND if issubclass(type(sample), np.ndarray) else read_attribute(sample, name)
        if found is UNBOUND:
            bound = bound_attribute(self, owner, sample, name)
            if bound is None:
                raise Break("PJ204", attribute=name, object=type_name(type(sample)))
            return bound
        if owner.root is None and owner.source is None and not issubclass(type(sample), (types.ModuleType, type)):
            raise Break("PJ204", attribute=name, object=type_name(type(sample)))
        self.reading(name, owner)
        source = Attr(owner.source, name) if owner.source is not None else None
        root = Attr(owner.root, name) if owner.root is not None else None
        return self.known_object(found, source, root)


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
