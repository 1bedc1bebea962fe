"""The lattice of abstract values: what is known of a Python value during abstract interpretation.

Two values are equal if the same is known of them; the SSA values that carry them do not count. ``defined_at`` is the
instruction that made the value. That instruction must stay bytecode when the value cannot leave a kernel.
"""

from __future__ import annotations

import enum
import types
from typing import Any, List, Optional, Tuple, cast

import numpy as np

from pijit.core.capture.values.array_kinds import array_type, is_captured
from pijit.core.capture.values.base import Abstract as Abstract
from pijit.core.capture.values.base import (
    HeldMethod,
    Join,
    Raised,
    Thrown,
    forgotten_parts,
    is_held_method,
    joined_parts,
)
from pijit.core.capture.values.base import Slice as Slice
from pijit.core.capture.values.base import StackSlice as StackSlice
from pijit.core.capture.values.base import Unbound as Unbound
from pijit.core.capture.values.base import Unknown as Unknown
from pijit.core.capture.values.kernel_local import Borrowed as Borrowed
from pijit.core.capture.values.kernel_local import BoundFunction as BoundFunction
from pijit.core.capture.values.kernel_local import CellRef as CellRef
from pijit.core.capture.values.kernel_local import Keywords as Keywords
from pijit.core.capture.values.kernel_local import Lazy as Lazy
from pijit.core.capture.values.kernel_local import Method as Method
from pijit.core.capture.values.kernel_local import Null as Null
from pijit.core.capture.values.kernel_local import PendingOperand as PendingOperand
from pijit.core.capture.values.kernel_local import Super as Super
from pijit.core.capture.values.kernel_local import UnescapedFunction as UnescapedFunction
from pijit.core.capture.values.libraries import in_library
from pijit.core.graph.ir import Value
from pijit.core.graph.types import (
    INT,
    PYTHON_CLASS,
    PYTHON_SCALARS,
    Array,
    Object,
    SampledClass,
    Scalar,
    Type,
    Vacant,
    numpy_scalar,
)
from pijit.guards import guard as kinds
from pijit.guards.facts import is_among, is_exactly
from pijit.guards.source import Inner

ITERATOR_CLASSES = {"range": type(iter(range(0))), "sequence": type(iter(np.zeros(0))), "reversed": reversed,
                    "enumerate": enumerate, "zip": zip, "list": type(iter([])),
                    "dict_keys": type(iter({})), "dict_values": type(iter({}.values())),
                    "dict_items": type(iter({}.items())), "set": type(iter(set())),
                    "text": type(iter("")), "bytes": type(iter(b""))}
"""Classes of the iterators of each kind."""

BY_VALUE = (int, float, bool, complex, str, bytes, type(None))
"""Classes whose objects are guarded by value, others by identity."""


class TypedValue(Abstract):
    """A scalar or an array of a known type, carried by one SSA value."""

    __slots__ = ("type", "value")

    def __init__(self, type: Type, value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.type = type
        self.value = value

    def key(self) -> Any:
        return self.type

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self != other:
            return None
        return type(self)(self.type, None, self.source if self.source == other.source else None, self.defined_at)


def ssa_value(value: TypedValue) -> Value:
    """The SSA value that carries a value which was used. In type propagation it may be None, and nothing reads it."""
    return cast(Value, value.value)


class Number(TypedValue):
    """A Python or NumPy scalar. ``sample`` is its value at capture time if it comes from outside, else None."""

    __slots__ = ("sample",)
    type: Scalar

    def __init__(self, type: Scalar, value: Optional[Value] = None, source: Any = None, defined_at: int = -1,
                 sample: Any = None) -> None:
        super().__init__(type, value, source, defined_at)
        self.sample = sample

    def guards(self, source: Any) -> List[Any]:
        if self.type == INT:
            return [kinds.IntRange(source)]
        return [kinds.IsType(source, PYTHON_CLASS.get(self.type, self.type.dtype.type))]


class Tensor(TypedValue):
    """A NumPy array. If it is the view ``array[index]``, ``part`` is (the SSA value of the array, the index)."""

    __slots__ = ("part",)
    type: Array

    def __init__(self, type: Array, value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(type, value, source, defined_at)
        self.part: Any = None

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, Tensor):
            return super().joined_with(other, join)
        joined = self.type.join(other.type)
        return Tensor(joined, defined_at=self.defined_at) if joined is not None else Unknown("PJ213", self.defined_at)

    def guards(self, source: Any) -> List[Any]:
        kind = self.type
        return [kinds.IsArray(source, kind.dtype, kind.ndim, kind.layout, True if kind.writeable else None, True)]


class Instance(TypedValue):
    """An object of one class, such as a list that the function has made. Its type may hold expected element types."""

    __slots__ = ()
    type: Object

    def key(self) -> Any:
        return self.type, getattr(self.type, "items", None)

    def guards(self, source: Any) -> List[Any]:
        python = self.type.python
        return [kinds.IsType(source, python)] if python is not None else []  # without a class each read checks it


class ListElement(Instance):
    """An element of a long list: an object like those that capture has sampled, of one class or of several."""

    __slots__ = ()
    type: SampledClass


class KnownContainer(Instance):
    """A list or dict whose items are all known, until it may have been changed. ``keys`` is None for a list."""

    __slots__ = ("keys", "items")
    has_parts = True

    def __init__(self, type: Object, keys: Optional[Tuple[Any, ...]], items: List[Abstract],
                 value: Optional[Value] = None, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(type, value, source, defined_at)
        self.keys = keys
        self.items = tuple(items)

    def key(self) -> Any:
        return (self.type, self.keys, self.items)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.items

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "KnownContainer":
        return self.like(list(parts), self.value, self.source)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if (not isinstance(other, KnownContainer) or self.keys != other.keys or len(self.items) != len(other.items)
                or self.type.python is not other.type.python):
            return None
        items = joined_parts(self, other, join)
        known = self == other or not any(item.knows_nothing() for item in items)
        return self.like(list(items), None) if known else None

    def like(self, items: List[Abstract], value: Optional[Value], source: Any = None) -> "KnownContainer":
        """The same container with other values for its items and for the object."""
        return KnownContainer(self.type, self.keys, items, value, source, self.defined_at)

    def forgotten(self) -> Instance:
        """The same object after it may have changed: its items are no longer known."""
        kind = self.type if self.items else Vacant(cast(type, self.type.python))
        copy = Instance(kind, self.value, self.source, self.defined_at)
        copy.root = self.root
        return copy

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, self.type.python), kinds.LengthIs(source, len(self.items))]


class Const(Abstract):
    """One known object."""

    __slots__ = ("object",)

    def __init__(self, object: Any, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.object = object

    def key(self) -> Any:
        kind = type(self.object)
        if is_among(kind, (int, float, bool, complex, str, bytes)):
            return (kind, repr(self.object))
        return id(self.object)

    def guards(self, source: Any) -> List[Any]:
        by_value = is_exactly(self.object, BY_VALUE)
        return [kinds.Equals(source, self.object) if by_value else kinds.IsIdentical(source, self.object)]


class OpaqueObject(Abstract):
    """An object of a known type whose attributes and items may be read under guards. ``sample`` is such an object.

    Two are equal only if they have the same source, because their attributes and items are read through it.
    """

    __slots__ = ("sample",)

    def __init__(self, sample: Any, source: Any = None, defined_at: int = -1) -> None:
        super().__init__(source, defined_at)
        self.sample = sample

    def key(self) -> Any:
        return id(self.sample), self.source

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, type(self.sample))]


class Sequence(Abstract):
    """A tuple with known items; ``value`` carries the object if it has been made."""

    __slots__ = ("items", "value")
    has_parts = True

    def __init__(self, items: List[Abstract], source: Any = None, defined_at: int = -1,
                 value: Optional[Value] = None) -> None:
        super().__init__(source, defined_at)
        self.items = tuple(items)
        self.value = value

    def key(self) -> Any:
        return self.items

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return self.items

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Sequence":
        return type(self)(list(parts), self.source, self.defined_at, self.value)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, Sequence) or len(self.items) != len(other.items):
            return super().joined_with(other, join)
        kind = type(self) if type(self) is type(other) else Sequence
        return kind(list(joined_parts(self, other, join)), defined_at=self.defined_at)

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        return self.with_mapped_parts(lambda part: part.forgotten())

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, tuple), kinds.LengthIs(source, len(self.items))]


class Range(Abstract):
    """A range object: start, step and length as machine words. ``parts``, if known, are the arguments of its
    construction."""

    __slots__ = ("words", "parts")
    parts: Tuple[Abstract, ...]

    def __init__(self, words: Tuple[Value, ...], defined_at: int = -1, parts: Tuple[Abstract, ...] = ()) -> None:
        super().__init__(None, defined_at)
        self.words = words
        self.parts = parts


class LoopIterator(Abstract):
    """An iterator that kernels step. Kind and words are those of :data:`~pijit.core.graph.types.ITERATOR_WORDS`.

    ``parts`` are its operands: an array, or iterators. ``input`` is the number of the graph input that holds the object
    if it came from outside the segment. ``count`` is the next count of "enumerate" if it is known, else None.
    """

    __slots__ = ("kind", "words", "parts", "input", "count")
    parts: Tuple[Abstract, ...]
    has_parts = True

    def __init__(self, kind: str, words: Tuple[Value, ...], parts: Tuple[Abstract, ...] = (),
                 input: Optional[int] = None, defined_at: int = -1, count: Optional[int] = None) -> None:
        super().__init__(None, defined_at)
        self.kind = kind
        self.words = words
        self.parts = parts
        self.input = input
        self.count = count

    def key(self) -> Any:
        return (self.kind, self.parts, self.count)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "LoopIterator":
        return LoopIterator(self.kind, self.words, parts, self.input, self.defined_at, self.count)

    def stepped(self, words: Tuple[Value, ...], parts: Tuple[Abstract, ...]) -> "LoopIterator":
        """The same iterator, further on."""
        count = self.count + 1 if self.count is not None else None
        return LoopIterator(self.kind, words, parts, self.input, self.defined_at, count)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, LoopIterator):
            return super().joined_with(other, join)
        if self.kind != other.kind or self.count != other.count or len(self.parts) != len(other.parts):
            return None
        joined = self.with_parts(joined_parts(self, other, join))
        return None if joined.knows_nothing() else joined

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        parts = forgotten_parts(self.parts)
        if parts is None:
            return self
        after = self.with_parts(parts)
        return Unknown("PJ209", self.defined_at) if after.knows_nothing() else after

    def guards(self, source: Any) -> List[Any]:
        return [kinds.IsType(source, ITERATOR_CLASSES[self.kind])]


class Unrolled(Abstract):
    """An iterator over a container of known items. The position is part of the abstract value, which unrolls the loop.

    ``owner`` is the container, ``position`` the number of items taken. ``what`` is iterated: "forwards", "backwards",
    or "values" or "items" of a dict.
    """

    __slots__ = ("owner", "length", "position", "what")
    has_parts = True

    def __init__(self, owner: Abstract, length: int, what: str, position: int = 0, defined_at: int = -1) -> None:
        super().__init__(None, defined_at)
        self.owner = owner
        self.length = length
        self.what = what
        self.position = position

    def key(self) -> Any:
        return (self.owner, self.length, self.what, self.position)

    @property
    def parts(self) -> Tuple[Abstract, ...]:
        return (self.owner,)

    def with_parts(self, parts: Tuple[Abstract, ...]) -> "Unrolled":
        return self.over(parts[0], self.position)

    def over(self, owner: Abstract, position: int) -> "Unrolled":
        """The same iterator with another owner or position."""
        return Unrolled(owner, self.length, self.what, position, self.defined_at)

    def joined_with(self, other: Abstract, join: Join) -> Optional[Abstract]:
        if self == other or not isinstance(other, Unrolled) or self.key()[1:] != other.key()[1:]:
            return super().joined_with(other, join)
        joined = self.with_parts(joined_parts(self, other, join))
        return None if joined.knows_nothing() else joined

    def knows_nothing(self) -> bool:
        return any(part.knows_nothing() for part in self.parts)

    def forgotten(self) -> Abstract:
        if isinstance(self.owner, KnownContainer):
            return Unknown("PJ209", self.defined_at)  # the remaining number of iterations depends on the list
        return self


UNBOUND = Unbound()
FRAGILE = (PendingOperand, Null, StackSlice, Range, UnescapedFunction, Lazy, Borrowed, Raised, Thrown)
"""Kernel-local values: no exit passes them to bytecode, and no segment starts with them."""

IMMUTABLE_BY_VALUE = (str, bytes, type(None), type(Ellipsis), type(NotImplemented))
NUMPY_CLASSES = tuple({np.dtype(code).type: None for code in np.typecodes["All"]})
"""The classes of NumPy's own scalars."""

BY_IDENTITY = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.WrapperDescriptorType,
               types.MethodDescriptorType, type, np.ufunc, np.dtype, type(np.sum), enum.Enum, type(np.s_),
               type(np.r_), type(np.c_), type(np.mgrid), type(np.ogrid))


def class_of(value: Abstract) -> Optional[type]:
    """``type(value)``, or None if the class is not known."""
    if isinstance(value, Number):
        return PYTHON_CLASS.get(value.type) or value.type.dtype.type
    if isinstance(value, Const):
        return type(value.object)
    if isinstance(value, OpaqueObject):
        return type(value.sample)
    if isinstance(value, Instance):
        return value.type.python
    return {Tensor: np.ndarray, Sequence: tuple, Range: range}.get(type(value)) or value.python


def has_class(value: Abstract) -> bool:
    """Whether a value is an object of a known class: one from outside, or an element of a long list."""
    return isinstance(value, OpaqueObject) or isinstance(value, ListElement) and value.type.python is not None


def scalar_type(value: Any) -> Optional[Scalar]:
    """The scalar type of a Python or NumPy number that kernels support, else None."""
    for python, kind in PYTHON_SCALARS.items():
        if type(value) is python:
            return kind
    if is_exactly(value, NUMPY_CLASSES) and is_captured(value.dtype):
        return numpy_scalar(value.dtype)
    return None


def known_of(sample: Any, source: Any = None, defined_at: int = -1) -> Abstract:
    """As `abstract_of`, for the value of an argument, global, attribute or item: modules and types are known by
    identity.

    Python functions of the user are known by their code, see `callees`.
    """
    if issubclass(type(sample), BY_IDENTITY) and (type(sample) is not types.FunctionType or in_library(sample)):
        if is_held_method(sample):
            return _held_like(sample, source, defined_at)
        return Const(sample, source, defined_at)
    return abstract_of(sample, source, defined_at)


def abstract_of(sample: Any, source: Any = None, defined_at: int = -1) -> Abstract:
    """The abstract value of ``sample`` and of values like it, under a guard on the type.

    The type alone is examined first, because ``isinstance`` may run a ``__class__`` property of the user's.
    """
    if issubclass(type(sample), np.ndarray):
        known = array_type(sample)
        if known is None:
            return OpaqueObject(sample, source, defined_at)
        return Tensor(known, None, source, defined_at)
    scalar = scalar_type(sample)
    if scalar is not None:
        if type(sample) is int and not -2 ** 63 <= sample < 2 ** 63:
            return Unknown("PJ203", defined_at)
        return Number(scalar, None, source, defined_at, sample if source is not None else None)
    if is_exactly(sample, IMMUTABLE_BY_VALUE):
        return Const(sample, source, defined_at)
    if is_held_method(sample):
        return _held_like(sample, source, defined_at)
    known_slice = _slice_like(sample, source, defined_at) if type(sample) is slice else None
    return known_slice or OpaqueObject(sample, source, defined_at)


def _held_like(sample: Any, source: Any, defined_at: int) -> HeldMethod:
    owner = OpaqueObject(sample.__self__, Inner(source, "__self__") if source is not None else None)
    return HeldMethod((owner,), sample.__name__, defined_at, source)


def _slice_like(sample: slice, source: Any, defined_at: int) -> Optional[Slice]:
    """The abstract value of slices like ``sample``; None where a part is neither an integer nor None."""
    parts = [abstract_of(getattr(sample, name), Inner(source, name) if source is not None else None)
             for name in Slice.NAMES]
    kinds = [number_type(part) for part in parts]
    plain = all(kind.dtype.kind in "iu" if kind is not None else part == Const(None)
                for part, kind in zip(parts, kinds))
    return Slice(tuple(parts), defined_at, source) if plain else None


def number_type(value: Abstract) -> Optional[Scalar]:
    """The scalar type of a Number or of a constant number."""
    if isinstance(value, Number):
        return value.type
    if isinstance(value, Const):
        kind = scalar_type(value.object)
        if kind is not None and type(value.object) is int and not -2 ** 63 <= value.object < 2 ** 63:
            return None
        return kind
    return None


def pointer_class(value: Abstract) -> Optional[type]:
    """The exact class of an object that kernels represent by a pointer, else None."""
    return class_of(value) if isinstance(value, (Instance, OpaqueObject)) else None


def object_type(value: Abstract) -> Object:
    """The graph type of a pointer to the object."""
    return Object(class_of(value))
