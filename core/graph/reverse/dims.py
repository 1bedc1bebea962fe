"""Symbolic sizes of arrays: which axes of an operand broadcasting repeats, so that its adjoint is summed over them.

The sizes of one call decide which axes have one element. The joint function requires the same of later calls: sizes
that meet in an operation are equal, or one of them is 1.
"""

from __future__ import annotations

from typing import Dict, List, Mapping, NamedTuple, Sequence, Tuple, Union, cast

from pijit.core.graph.ir import Op, Value
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.types import Array


class Size(NamedTuple):
    """A size that is not known to be 1: the array and the axis that have it first."""

    array: Value
    axis: int


Dim = Union[int, Size]
"""The size of an axis: a number, or a symbol, which stands for any size that is not known to be 1."""


class Check(NamedTuple):
    """Two sizes that the joint function requires to be equal."""

    one: Size
    other: Dim


class Dims:
    """The symbolic sizes of all arrays of a graph.

    Args:
        shapes: the shapes of the inputs in the call that is captured.

    Attributes:
        of: the sizes of each array.
    """

    def __init__(self, shapes: Mapping[Value, Tuple[int, ...]]) -> None:
        self.of: Dict[Value, Tuple[Dim, ...]] = {}
        self.checks: List[Check] = []
        self._same: Dict[Size, Dim] = {}
        self._parts: Dict[Tuple[Dim, Tuple[object, ...]], Size] = {}
        for array, shape in shapes.items():
            self.of[array] = tuple(1 if size == 1 else Size(array, axis) for axis, size in enumerate(shape))
            self.checks += [Check(Size(array, axis), 1) for axis, size in enumerate(shape) if size == 1]

    def found(self, dim: Dim) -> Dim:
        """The representative of a size."""
        while isinstance(dim, Size) and dim in self._same:
            dim = self._same[dim]
        return dim

    def meet(self, one: Dim, other: Dim) -> Dim:
        """The size of an axis that two operands share by broadcasting."""
        one, other = self.found(one), self.found(other)
        if one == 1 or other == 1:
            return other if one == 1 else one
        self.unify(one, other)
        return self.found(one)

    def unify(self, one: Dim, other: Dim) -> None:
        """Require two sizes to be equal."""
        one, other = self.found(one), self.found(other)
        if one == other:
            return
        if not isinstance(one, Size):
            one, other = other, one
        if not isinstance(one, Size):
            raise Irreversible("sizes that never fit")
        if other == 1:
            raise Irreversible("an axis has one element in this call only")
        self.checks.append(Check(one, other))
        self._same[one] = other

    def broadcast(self, shapes: Sequence[Tuple[Dim, ...]]) -> Tuple[Dim, ...]:
        """The sizes of an elementwise result."""
        dims: List[Dim] = []
        for mine in map(list, shapes):
            longer, shorter = (dims, mine) if len(dims) >= len(mine) else (mine, dims)
            extra = len(longer) - len(shorter)
            dims = longer[:extra] + [self.meet(a, b) for a, b in zip(longer[extra:], shorter)]
        return tuple(dims)

    def are_full(self, shape: Tuple[Dim, ...], value: Value) -> bool:
        """Whether sizes are those of a value, not those of something that broadcasts to it."""
        return len(shape) == len(self.of.get(value, ())) and all(
            self.found(a) == self.found(b) for a, b in zip(shape, self.of.get(value, ())))

    def known(self, result: Value, shape: Tuple[int, ...]) -> None:
        """Set the sizes of an array whose shape is known."""
        self.of[result] = tuple(shape)

    def view(self, op: Op, index: Tuple[str, ...], constants: Tuple[object, ...]) -> None:
        """Set the sizes of a basic slice; equal slices of equal sizes have one size."""
        source, result = list(self.of[op.args[0]]), cast(Value, op.result)
        used, dims = 0, []
        for item in index:
            if item == "n":
                dims.append(cast(Dim, 1))
                continue
            dim = self.found(source.pop(0))
            values = constants[used:used + item.count("v") + (item == "i")]
            used += len(values)
            if item == "e":
                dims.append(dim)
            elif item != "i":
                key = dim, (item,) + values
                dims.append(self._parts.setdefault(key, Size(result, len(dims))))
        self.of[result] = tuple(dims + source)

    def reduced(self, result: Value, operand: Value, axis: object, keepdims: bool) -> None:
        """Set the sizes of a reduction over one axis, or over all (None)."""
        dims = self.of[operand]
        if not isinstance(result.type, Array):
            return
        gone = set(range(len(dims))) if axis is None else {cast(int, axis) % len(dims)}
        self.of[result] = tuple(1 if number in gone else dim for number, dim in enumerate(dims)
                                if keepdims or number not in gone)

    def matmul(self, result: Value, a: Value, b: Value) -> None:
        """Set the sizes of a product of vectors and matrices."""
        left, right = self.of[a], self.of[b]
        if len(left) > 2 or len(right) > 2:
            raise Irreversible("a product of stacks of matrices")
        self.unify(left[-1], right[0]) if left[-1] != right[0] else None
        if isinstance(result.type, Array):
            self.of[result] = left[:-1] + right[1:]

    def summed(self, operand: Value, result: Value) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """The axes of a result over which the adjoint of an operand is summed: those that the operand lacks, and then
        those on which it has one element (without the lacking ones)."""
        mine, whole = self.of.get(operand, ()), self.of.get(result, ())
        extra = len(whole) - len(mine)
        ones = tuple(number for number, (a, b) in enumerate(zip(mine, whole[extra:])) if a == 1 and b != 1)
        return tuple(range(extra)), ones
