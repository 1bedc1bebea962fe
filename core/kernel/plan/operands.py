"""Operands of kernel source: names of variables and constants, and the operands that describe an array.

Decisions look at the class, the name and the value of an operand. Its text is for the source alone.
"""

from __future__ import annotations

import functools
from typing import Any, Iterable, List, Optional, Sequence, Tuple, Union, cast

import numpy as np

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.types import Array, Scalar
from pijit.core.kernel.llvm.nest import description as nests


class Operand:
    """A scalar operand; ``value`` is its number if that is known, else None. `str` gives its text in the source."""

    __slots__ = ("_text",)
    value: Any = None

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "%s(%r)" % (type(self).__name__, self._text)


class Name(Operand):
    """A variable; equal names are the same variable."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Name) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class ConstantOperand(Operand):
    """A number. Its text may be a call, such as ``narrow((0.5))``, which a variable holds if it is needed twice.

    Constants are equal if their numbers have one type and the same bits, in whatever form they are written.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any, text: str) -> None:
        super().__init__(text)
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantOperand) and type(self.value) is type(other.value) \
            and repr(self.value) == repr(other.value)  # tells zeros by their sign, and NaN is itself

    def __hash__(self) -> int:
        return hash(repr(self.value))

    @property
    def is_finite(self) -> bool:
        return bool(self.value - self.value == 0)


class Literal(ConstantOperand):
    """A number whose text is a literal of the language."""

    __slots__ = ()

    def __init__(self, value: Any, text: str = "") -> None:
        super().__init__(value, text or "(%r)" % value)


@functools.lru_cache(maxsize=256)
def integer(value: int) -> Literal:
    """The literal of an integer; common ones, such as item sizes, are made once."""
    return Literal(value, "(%d)" % value)


ZERO, ONE = integer(0), integer(1)
NULL = Literal(0, "0")
"""The word of an object that does not exist."""

Condition = Union[bool, Operand]
"""A condition: known, or a variable."""


class ArrayVariable:
    """The operands of one array value: data address, object, shape and strides.

    A view has no object at first: ``object`` is a variable that is 0 until the ndarray object is made. ``base`` is
    then the object that it is a view of. The ``object`` of a stack array (``in_slot``, stack_arrays.py) is 0 until a
    copy is made. For any other array ``base`` is the object itself.

    ``strides`` lead to elements; ``shown`` are the strides that NumPy shows. They may differ in an axis of length 1
    and in empty arrays: NumPy calls these contiguous with any strides, and the layout then gives a literal for
    ``strides``.

    ``origin`` is (another data address, the offset of the elements from it in bytes), valid if there are elements.
    ``rolled`` is (axis, places) for an array that only loop nests read: elements lie that many places back on the
    axis.
    """

    __slots__ = ("type", "data", "object", "shape", "strides", "shown", "base", "lazy", "in_slot", "origin", "rolled")

    def __init__(self, type: Array, data: Operand, object: Operand, shape: Iterable[Operand],
                 strides: Iterable[Operand], base: Optional[Operand] = None, shown: Optional[Iterable[Operand]] = None,
                 origin: Optional[Tuple[Operand, int]] = None) -> None:
        self.type = type
        self.data = data
        self.object = object
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.shown = self.strides if shown is None else tuple(shown)
        self.base = object if base is None else base
        self.lazy = base is not None
        self.in_slot = False
        self.origin = (data, 0) if origin is None else origin
        self.rolled: Optional[Tuple[int, Operand]] = None

    def rolled_by(self, axis: int, places: Operand) -> ArrayVariable:
        """The same elements rolled along an axis, for loop nests only."""
        array = ArrayVariable(self.type, self.data, NULL, self.shape, self.strides)
        array.rolled = axis, places
        return array

    @property
    def last_stride(self) -> str:
        """What is certain about the last stride, as one of the kinds that nests know."""
        return last_stride_kind(self.type, [size.value for size in self.shape[-1:]],
                                [stride.value for stride in self.strides[-1:]])

    @property
    def is_adjacent(self) -> bool:
        """Whether the array is certain to be a vector of adjacent elements."""
        return len(self.shape) == 1 and self.strides[0].value == self.type.dtype.itemsize and not self.rolled

    @property
    def has_transposed_order(self) -> bool:
        """Whether the elements along an axis other than the last one are certain to be adjacent."""
        return self.rolled is None and self.last_stride == nests.ANY and any(
            stride.value == self.type.dtype.itemsize for stride in self.strides)

    def moves_from(self, other: ArrayVariable) -> List[Tuple[Operand, Operand]]:
        """(variable, source) pairs that assign the other array to this variable."""
        pairs = [(self.data, other.data), (self.object, other.object)]
        pairs += zip(self.shape, other.shape)
        return pairs + list(zip(self.shown, other.shown))


def result_of(op: Op) -> Value:
    """The result of an operation that has one."""
    return cast(Value, op.result)


def array_type(value: Value) -> Array:
    """The type of an array."""
    return cast(Array, value.type)


def scalar_type(value: Value) -> Scalar:
    """The type of a scalar."""
    return cast(Scalar, value.type)


def dtype_of(value: Value) -> np.dtype[Any]:
    """The dtype of an array or a scalar."""
    return cast(Array, value.type).dtype


def last_stride_kind(kind: Array, size: Sequence[Optional[int]], stride: Sequence[Optional[int]]) -> str:
    """The kind of an array's last stride, by the last size and stride in bytes; None: known at run time only.

    The sequences are empty for an array without axes.
    """
    if not size or size[0] == 1 or stride[0] == 0:
        return nests.ZERO
    return nests.step_kind(stride[0], kind.dtype.itemsize) if stride[0] is not None else nests.ANY
