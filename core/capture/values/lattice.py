"""The lattice of abstract values: what is known of a Python value during abstract interpretation.

Two values are equal if the same is known of them; the SSA values that carry them do not count. ``defined_at`` is the
instruction that made the value. That instruction must stay bytecode when the value cannot leave a kernel.
"""

from __future__ import annotations

import enum
import operator
import types
from typing import Any, Callable, Optional, cast

import numpy as np

from pijit.core.capture.values.array_kinds import array_type, is_captured, memory_type
from pijit.core.capture.values.base import Abstract as Abstract
from pijit.core.capture.values.base import HeldMethod, Raised, Thrown, is_held_method
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
from pijit.core.capture.values.known_objects import Const as Const
from pijit.core.capture.values.known_objects import OpaqueObject as OpaqueObject
from pijit.core.capture.values.known_objects import Sequence as Sequence
from pijit.core.capture.values.libraries import in_library
from pijit.core.capture.values.loop_iterators import LoopIterator as LoopIterator
from pijit.core.capture.values.loop_iterators import Range as Range
from pijit.core.capture.values.loop_iterators import Unrolled as Unrolled
from pijit.core.capture.values.mapped_arrays import MappedArray as MappedArray
from pijit.core.capture.values.mapped_arrays import UnmadeArray as UnmadeArray
from pijit.core.capture.values.mapped_arrays import is_unchanged
from pijit.core.capture.values.typed_values import Instance as Instance
from pijit.core.capture.values.typed_values import KnownContainer as KnownContainer
from pijit.core.capture.values.typed_values import ListElement as ListElement
from pijit.core.capture.values.typed_values import Number as Number
from pijit.core.capture.values.typed_values import Tensor as Tensor
from pijit.core.capture.values.typed_values import TypedValue as TypedValue
from pijit.core.capture.values.typed_values import ssa_value as ssa_value
from pijit.core.graph.types import PYTHON_SCALARS, Array, Object, Scalar, numpy_scalar
from pijit.guards.facts import is_exactly
from pijit.guards.source import Inner

UNBOUND = Unbound()
KERNEL_LOCAL = (PendingOperand, Null, StackSlice, Range, UnescapedFunction, Lazy, Borrowed, Raised, Thrown)
"""Kernel-local values: no exit passes them to bytecode, and no segment starts with them."""

IMMUTABLE_BY_VALUE = (str, bytes, type(None), type(Ellipsis), type(NotImplemented))
NUMPY_CLASSES = tuple({np.dtype(code).type: None for code in np.typecodes["All"]})
"""The classes of NumPy's own scalars."""

BY_IDENTITY = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.WrapperDescriptorType,
               types.MethodDescriptorType, type, np.ufunc, np.dtype, type(np.sum), enum.Enum, type(np.s_),
               type(np.r_), type(np.c_), type(np.mgrid), type(np.ogrid))


class_of: Callable[[Abstract], Optional[type]] = operator.attrgetter("python")
"""``type(value)``, or None if the class is not known."""


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
        is_mapped = type(sample) is np.memmap and is_unchanged() and sample.ndim
        mapped = memory_type(sample) if is_mapped else None
        if known is None and mapped is None:
            return OpaqueObject(sample, source, defined_at)
        if mapped is not None:
            return MappedArray(sample, mapped.expecting(sample.shape), source, defined_at)
        return Tensor(cast(Array, known).expecting(sample.shape), None, source, defined_at)
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
