"""Symbolic sizes of arrays: which axes of an operand broadcasting repeats, so that its adjoint is summed over them.

The sizes of one call decide which axes have one element. The joint function requires the same of later calls: sizes
that meet in an operation are equal, or one of them is 1. If guards compare the shapes of all inputs, sizes are numbers,
and integers that are computed from sizes are constants.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, cast

import numpy as np

from pijit.core.graph.derivatives.table import PRODUCTS
from pijit.core.graph.ir import Op, Value
from pijit.core.graph.linear_forms import Forms, number_of, plus
from pijit.core.graph.ops import DIVIDES, ELEMENTWISE
from pijit.core.graph.reverse.errors import Irreversible
from pijit.core.graph.reverse.library_calls import any_call, equal_sizes, is_selection
from pijit.core.graph.reverse.regions import Conditional, LoopRegion, RegionItem
from pijit.core.graph.reverse.sizes.library import SIZES, matrix_product
from pijit.core.graph.reverse.sizes.slices import measure_view
from pijit.core.graph.reverse.sizes.symbols import Constants, Dim, Size, SizeCheck
from pijit.core.graph.types import Array, Scalar


class Dims:
    """The symbolic sizes of all arrays of a graph.

    Args:
        shapes: the shapes of the inputs in the call that is captured.
        are_static: whether all other calls have the same shapes.
        forms: the linear forms of the graph's integers.

    Attributes:
        of: the sizes of each array.
        checks: pairs of sizes that must be equal.
        numbers: the numbers that are sizes.
        cuts: sizes of slices: the size of the whole axis, and how many elements the slice lacks.
        required: sizes of views that hold unless a slice reaches beyond its array: the axis and the size.
        are_static: see above.
    """

    def __init__(self, shapes: Mapping[Value, Tuple[int, ...]], are_static: bool = False,
                 forms: Optional[Forms] = None) -> None:
        self.of: Dict[Value, Tuple[Dim, ...]] = {}
        self.checks: List[SizeCheck] = []
        self.numbers: Dict[Value, Dim] = {}
        self.cuts: Dict[Size, Tuple[Dim, int]] = {}
        self._same: Dict[Size, Dim] = {}
        self._parts: Dict[Tuple[Dim, Tuple[object, ...]], Size] = {}
        self.required: Dict[Value, List[Tuple[int, Dim]]] = {}
        self.are_static, self._forms, self._inputs = are_static, forms, frozenset(shapes)
        if are_static:
            self.of.update(shapes)
            return
        for array, shape in shapes.items():
            self.of[array] = tuple(1 if size == 1 else Size(array, axis) for axis, size in enumerate(shape))
            self.checks += [SizeCheck(Size(array, axis), 1) for axis, size in enumerate(shape) if size == 1]

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
        if not isinstance(one, Size) or isinstance(other, Size) and self._rank(one) < self._rank(other):
            one, other = other, one
        if not isinstance(one, Size):
            raise Irreversible("sizes that never fit")
        if other == 1:
            raise Irreversible("an axis has one element in this call only")
        if one in self.cuts and other in self.cuts and self.cuts[one][1] == self.cuts[other][1]:
            self.unify(self.cuts[one][0], self.cuts[other][0])
        else:
            self.checks.append(SizeCheck(one, other))
        self._same[one] = other

    def _rank(self, size: Size) -> int:
        """Which of equal sizes stands for the others: that of an input, or else that of the value made first."""
        return -1 if size.array in self._inputs else size.array.id

    def part(self, dim: Dim, piece: Tuple[object, ...], new: Size) -> Size:
        """The size of a slice of an axis: the one that an equal slice has, or else ``new``."""
        found = self._parts.setdefault((dim, piece), new)
        if piece[0] == "cut":
            self.cuts[found] = dim, cast(int, piece[1])
        return found

    def distance(self, item: str, ends: Sequence[Any]) -> Optional[Dim]:
        """The length of a slice with these ends, if their difference is a constant or a known size; else None."""
        values = [end for end in ends if isinstance(end, Value)]
        if self._forms is None or item != "svv-" or len(values) != 2:
            return None
        form = plus(self._forms.of(values[1]), self._forms.of(values[0]), -1)
        number, (atom, *others) = number_of(form), [*form, None]
        if number is not None:
            return number if number > 0 else None
        return self.numbers.get(atom) if atom is not None and others == [None] and form[atom] == 1 else None

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

    def measure(self, items: Sequence[RegionItem], constants: Constants) -> None:
        """Set the sizes of all results in a sequence; ``constants`` are the constants of the graph."""
        for item in items:
            if isinstance(item, Op) and self.are_static:
                _fold(self, item, constants)
            if isinstance(item, LoopRegion):
                self._measure_loop(item, constants)
            elif isinstance(item, Conditional):
                self._measure_conditional(item, constants)
            elif isinstance(item, Op) and item.name in MEASURES:
                MEASURES[item.name](self, item, constants)
            elif isinstance(item, Op) and item.result is not None and isinstance(item.result.type, Array):
                _measure_result(self, item, constants)

    def _measure_loop(self, loop: LoopRegion, constants: Constants) -> None:
        """Loop-carried arrays have the same sizes in all iterations."""
        arrays = [number for number, param in enumerate(loop.params) if isinstance(param.type, Array)]
        for number in arrays:
            self.of[loop.params[number]] = self.of[loop.first[number]]
        self.measure(loop.items, constants)
        for number in arrays:
            for one, other in zip(self.of[loop.params[number]], self.of[loop.next[number]]):
                self.unify(one, other)

    def _measure_conditional(self, item: Conditional, constants: Constants) -> None:
        """Arrays have the same sizes after both sides."""
        self.measure(item.then.items, constants)
        self.measure(item.other.items, constants)
        for param, one, other in zip(item.params, item.then.args, item.other.args):
            if isinstance(param.type, Array):
                if len(self.of[one]) != len(self.of[other]):
                    raise Irreversible("sizes that never fit")
                for size, same in zip(self.of[one], self.of[other]):
                    self.unify(size, same)
                self.of[param] = tuple(map(self.found, self.of[one]))

    def summed(self, operand: Value, result: Value) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """The axes of a result over which the adjoint of an operand is summed: those that the operand lacks, and then
        those on which it has one element (without the lacking ones)."""
        mine, whole = self.of.get(operand, ()), self.of.get(result, ())
        extra = len(whole) - len(mine)
        ones = tuple(number for number, (a, b) in enumerate(zip(mine, whole[extra:])) if a == 1 and b != 1)
        return tuple(range(extra)), ones


_INTEGERS: Dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "floordiv": operator.floordiv, "mod": operator.mod,
    "neg": operator.neg, "same": int, "cast": int}
"""Operations on integers that are computed if all operands are constants."""


def _fold(dims: Dims, op: Op, constants: Constants) -> None:
    """Note the result of an operation on integers if it is a constant."""
    values = [constants.get(arg) for arg in op.args]
    kind = getattr(op.result, "type", None)
    if op.name == "dim" and type(dims.of[op.args[0]][op.attrs["axis"]]) is int:
        constants[cast(Value, op.result)] = dims.of[op.args[0]][op.attrs["axis"]]
    elif op.name in _INTEGERS and isinstance(kind, Scalar) and kind.dtype == np.int64 and all(
            type(value) is int for value in values) and not (op.name in DIVIDES and not values[1]):
        constants[cast(Value, op.result)] = _INTEGERS[op.name](*values)


def _new(result: Value) -> Tuple[Dim, ...]:
    """The sizes of an array of which nothing is known."""
    return tuple(Size(result, axis) for axis in range(cast(Array, result.type).ndim))


def _measure_result(dims: Dims, op: Op, constants: Constants) -> None:
    """Set the sizes of a result: those that operands have, for elementwise operations and some library functions."""
    if is_selection(op):
        return _gather(dims, op, constants)
    result, call = cast(Value, op.result), any_call(op)
    shape: Optional[Tuple[Dim, ...]] = None
    if call is not None and call.function in SIZES:
        shape = SIZES[call.function](dims, call, constants)
    elif call is not None or op.name in ELEMENTWISE:
        alike = list(equal_sizes(call)) if call is not None else op.args
        shape = dims.broadcast([dims.of.get(arg, ()) for arg in alike])
    dims.of[result] = shape if shape and len(shape) == cast(Array, result.type).ndim else _new(result)


def _gather(dims: Dims, op: Op, constants: Constants) -> None:
    """An index array takes the place of the first axis; a mask leaves an unknown number of elements.

    Several index arrays are broadcast, and take the place of all axes.
    """
    array, index = (dims.of.get(arg, ()) for arg in op.args[:2])
    result = cast(Value, op.result)
    if len(op.args) > 2:
        index, array = dims.broadcast([dims.of.get(arg, ()) for arg in op.args[1:]]), ()
    known = op.name != "pick" and len(index) + len(array[1:]) == cast(Array, result.type).ndim
    dims.of[result] = tuple(index) + array[1:] if known else _new(result)


def _concatenate(dims: Dims, op: Op, constants: Constants) -> None:
    result, axis = cast(Value, op.result), op.attrs["axis"]
    sizes = list(map(list, (dims.of[arg] for arg in op.args)))
    for other in sizes[1:]:
        for number, (a, b) in enumerate(zip(sizes[0], other)):
            if number != axis:
                dims.unify(a, b)
    joined = [one[axis] for one in sizes]
    whole: Dim = sum(cast(List[int], joined)) if all(type(one) is int for one in joined) and dims.are_static \
        else Size(result, axis)
    dims.of[result] = tuple(whole if number == axis else dim for number, dim in enumerate(sizes[0]))


def _reshape(dims: Dims, op: Op, constants: Constants) -> None:
    result, unknown = cast(Value, op.result), op.attrs["unknown"]
    sizes = list(op.args[1:])
    made = [cast(Dim, constants[arg]) if arg in constants else dims.numbers.get(arg, Size(result, axis))
            for axis, arg in enumerate(sizes)]
    if unknown is not None:
        made[unknown] = Size(result, unknown)
        known = [size for size in (*dims.of[op.args[0]], *made) if type(size) is int]
        others = int(np.prod([size for axis, size in enumerate(made) if axis != unknown and type(size) is int]))
        if dims.are_static and len(known) == len(dims.of[op.args[0]]) + len(made) - 1 and others:
            made[unknown] = int(np.prod(cast(List[int], dims.of[op.args[0]]))) // others
    dims.of[result] = tuple(made)


def _transpose(dims: Dims, op: Op, constants: Constants) -> None:
    dims.of[cast(Value, op.result)] = tuple(dims.of[op.args[0]][axis] for axis in op.attrs["axes"])


def _elements(dims: Dims, op: Op, constants: Constants) -> None:
    dims.of[cast(Value, op.result)] = tuple(op.attrs["shape"])


def _in_order(dims: Dims, op: Op, constants: Constants) -> None:
    dims.of[cast(Value, op.result)] = dims.of[op.args[0]]


def _reduce(dims: Dims, op: Op, constants: Constants) -> None:
    """A reduction over one axis, over several, or over all (None)."""
    result, axis, operand = cast(Value, op.result), op.attrs["axis"], dims.of[op.args[0]]
    axes = range(len(operand)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {one % len(operand) for one in axes}
    if isinstance(result.type, Array):
        dims.of[result] = tuple(1 if number in gone else dim for number, dim in enumerate(operand)
                                if op.attrs["keepdims"] or number not in gone)


def _product(dims: Dims, op: Op, constants: Constants) -> None:
    """A product of vectors and matrices."""
    if op.attrs.get("function") not in PRODUCTS:
        if isinstance(cast(Value, op.result).type, Array):
            _measure_result(dims, op, constants)
        return
    result, (left, right) = cast(Value, op.result), (dims.of[arg] for arg in op.args)
    if max(len(left), len(right)) > 2 and op.attrs["function"] != "matmul":
        raise Irreversible("a product of stacks of matrices")
    shape = matrix_product(dims, left, right)
    if isinstance(result.type, Array):
        dims.of[result] = shape


def _dim(dims: Dims, op: Op, constants: Constants) -> None:
    dims.numbers[cast(Value, op.result)] = dims.of[op.args[0]][op.attrs["axis"]]


def _number(dims: Dims, op: Op, constants: Constants) -> None:
    """A number that stays the same; of arrays, a conversion."""
    result = cast(Value, op.result)
    if op.args[0] in dims.numbers:
        dims.numbers[result] = dims.numbers[op.args[0]]
    elif isinstance(result.type, Array):
        dims.of[result] = dims.of.get(op.args[0], ())


def _alloc(dims: Dims, op: Op, constants: Constants) -> None:
    """A new array; its last operands are its sizes."""
    result = cast(Value, op.result)
    sizes = op.args[len(op.args) - op.attrs.get("ndim", len(op.args)):]
    dims.of[result] = tuple(dims.numbers.get(size, cast(Dim, constants.get(size, Size(result, axis))))
                            for axis, size in enumerate(sizes))


def _assign(dims: Dims, op: Op, constants: Constants) -> None:
    """A store of what broadcasts to its target."""
    target, source = dims.of[op.args[0]], dims.of.get(op.args[1], ())
    if len(source) > len(target):
        raise Irreversible("a store of an array with more axes than its target")
    for one, other in zip(reversed(target), reversed(source)):
        dims.meet(one, other)


def _ufunc_into(dims: Dims, op: Op, constants: Constants) -> None:
    """An operation that stores a result of its target's sizes."""
    shape = dims.broadcast([dims.of.get(arg, ()) for arg in op.args[1:]])
    for one, other in zip(reversed(dims.of[op.args[0]]), reversed(shape)):
        dims.meet(one, other)


MEASURES: Dict[str, Callable[[Dims, Op, Constants], None]] = {
    "dim": _dim, "same": _number, "cast": _number, "alloc": _alloc, "assign": _assign, "ufunc_into": _ufunc_into,
    "view": measure_view, "transpose": _transpose, "elements": _elements, "reduce": _reduce, "gufunc": _product,
    "product": _product, "dot": _product, "gather": _gather, "pick": _gather, "rows": _gather,
    "concatenate": _concatenate, "reshape": _reshape, "draw_array": _alloc,
    "in_order": _in_order}
"""How the sizes of results follow from those of operands, for operations that do not broadcast."""
